"""What the tests of every lab share: a call, what was expected, what came.

A test says `self.returns(expected, lab.function, ...)` or `self.refuses(error, "field", lab.function, ...)`.
When that fails, a Mismatch carries the call, the expected and the got as text, and the runner shows them.
"""

import copy
import unittest

from submission import Lost

VALUE_LIMIT = 200  # characters of one value in a message
PLAIN_TYPES = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)


class Mismatch(AssertionError):
    """A call did not do what the contract says. Texts: call, expected, got; cause is the submission's exception."""

    def __init__(self, call, expected, got, cause=None):
        super().__init__(f"{call}\n  expected {expected}\n  got      {got}")
        self.call, self.expected, self.got, self.cause = call, expected, got, cause


def cut(text, limit=VALUE_LIMIT):
    """Return text, its middle replaced by its length when it is longer than limit characters."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]} ... {text[-limit // 4 :]} ({len(text):,} characters)"


def shown(value):
    """Return value as a message shows it; never fails, whatever the value."""
    try:
        return cut(value.__name__ if isinstance(value, type) else repr(value))
    except Exception as error:
        return f"a {type(value).__name__} that cannot be shown ({type(error).__name__})"


def kind(value):
    return next((plain for plain in PLAIN_TYPES if isinstance(value, plain)), type(value))


def same(got, expected):
    """Return whether two values are equal in type as well: True is not 1 here, and 2.0 is not 2."""
    if isinstance(expected, Containing):
        return expected.holds(got)
    if kind(got) is not kind(expected):
        return False
    if isinstance(expected, dict):
        return len(got) == len(expected) and all(key in got and same(got[key], expected[key]) for key in expected)
    if isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(map(same, got, expected))
    return got == expected


class Containing:
    """Stands for any text that holds each of the parts, in upper or lower case."""

    def __init__(self, *parts):
        self.parts = parts

    def holds(self, text):
        return isinstance(text, str) and all(part.lower() in text.lower() for part in self.parts)

    def __repr__(self):
        return "<a text with " + " and ".join(map(shown, self.parts)) + ">"


class Client:
    """A client that plays replies and keeps copies of what it was asked; an exception among them is raised."""

    def __init__(self, *replies):
        self.replies = replies
        self.seen = []

    def __call__(self, messages):
        self.seen.append(copy.deepcopy(messages))
        if len(self.seen) > len(self.replies):
            raise AssertionError(f"the client was asked {len(self.seen)} times, {len(self.replies)} at most are right")
        reply = self.replies[len(self.seen) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def __repr__(self):
        return f"<client: {', '.join(map(shown, self.replies))}>"


class LabTest(unittest.TestCase):
    """A TestCase whose failures say which call was made, what was expected and what came."""

    def attempt(self, expected, function, args, kwargs):
        """Return (call as text, value); an exception of the submission's becomes a Mismatch."""
        words = [shown(arg) for arg in args] + [f"{name}={shown(arg)}" for name, arg in kwargs.items()]
        call = f"{getattr(function, '__name__', function)}({', '.join(words)})"
        try:
            return call, function(*args, **kwargs)
        except Lost:
            raise
        except Exception as error:
            raise Mismatch(call, expected, f"{type(error).__name__}: {cut(str(error))}", error) from error

    def returns(self, expected, function, *args, **kwargs):
        """Call; fail unless the value equals expected, types included. Return the value."""
        call, got = self.attempt(shown(expected), function, args, kwargs)
        if not same(got, expected):
            raise Mismatch(call, *difference(got, expected))
        return got

    def refuses(self, error, named, function, *args, **kwargs):
        """Call; fail unless it raises error with a message that has `named` in it. Return the message."""
        expected = f"{error.__name__} that names {named}" if named else error.__name__
        try:
            call, got = self.attempt(expected, function, args, kwargs)
        except Mismatch as mismatch:
            message = str(mismatch.cause)
            if not isinstance(mismatch.cause, error) or named not in message:
                raise
            return message
        raise Mismatch(call, expected, shown(got))

    def passes_on(self, error, function, *args, **kwargs):
        """Call; fail unless that very exception comes out."""
        expected = f"that {error!r} comes out as it is"
        try:
            call, got = self.attempt(expected, function, args, kwargs)
        except Mismatch as mismatch:
            if mismatch.cause is not error:
                raise
        else:
            raise Mismatch(call, expected, shown(got))

    def check(self, what, got, expected):
        """Fail unless got equals expected, types included; `what` says what is compared."""
        if not same(got, expected):
            raise Mismatch(what, *difference(got, expected))


def difference(got, expected):
    """Return (expected, got) as texts; of two records or lists alike in shape, just the first part that differs."""
    place = ""
    while True:
        if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
            key = next(key for key in expected if not same(got[key], expected[key]))
        elif isinstance(expected, (list, tuple)) and kind(got) is kind(expected) and len(got) == len(expected):
            key = next(key for key in range(len(expected)) if not same(got[key], expected[key]))
        else:
            break
        place, got, expected = f"{place}[{key!r}]", got[key], expected[key]
    if isinstance(got, (list, tuple)) and isinstance(expected, (list, tuple)) and len(got) != len(expected):
        return f"{place} {len(expected)} items: {shown(expected)}".strip(), f"{place} {len(got)} items: {shown(got)}".strip()
    return f"{place} {shown(expected)}".strip(), f"{place} {shown(got)}".strip()
