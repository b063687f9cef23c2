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


class Call(str):
    """A call as text; replies are those that the client in it plays, printed is what the submission printed."""

    replies = printed = ()


def cut(text, limit=VALUE_LIMIT):
    """Return text, its middle replaced by its length when it is longer than limit characters."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]} ... {text[-limit // 4 :]} ({len(text):,} characters)"


def shown(value):
    """Return value as a message shows it; never fails, whatever the value."""
    try:
        return cut(spelled(value))
    except Exception as error:
        return f"a {type(value).__name__} that cannot be shown ({type(error).__name__})"


def spelled(value):
    """Return repr(value), but a function or a type as its name, and what has no spelling as its kind: no addresses."""
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {spelled(item)}" for key, item in value.items()) + "}"
    if type(value) in (list, tuple):
        words = ", ".join(map(spelled, value))
        return f"[{words}]" if type(value) is list else f"({words},)" if len(value) == 1 else f"({words})"
    if type(value).__repr__ is not object.__repr__ and not callable(value) and not hasattr(value, "__next__"):
        return repr(value)
    return getattr(value, "__name__", None) or (repr(value) if isinstance(value, Client) else f"<{type(value).__name__}>")


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


class AskedTooOften(Exception):
    """A client has no reply left."""


class Client:
    """A client that plays replies and keeps copies of what it was asked; an exception among them is raised."""

    def __init__(self, *replies):
        self.replies = replies
        self.seen = []

    def __call__(self, messages):
        self.seen.append(copy.deepcopy(messages))
        if len(self.seen) > len(self.replies):
            raise AskedTooOften(f"the client was asked again after reply {len(self.replies)}, when all was said")
        reply = self.replies[len(self.seen) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def __repr__(self):
        return "client"


class LabTest(unittest.TestCase):
    """A TestCase whose failures say which call was made, what was expected and what came."""

    last_call = Call("")

    def attempt(self, expected, function, args, kwargs):
        """Return (call as text, value); an exception of the submission's becomes a Mismatch."""
        words = [shown(arg) for arg in args] + [f"{name}={shown(arg)}" for name, arg in kwargs.items()]
        call = Call(f"{getattr(function, '__name__', function)}({', '.join(words)})")
        self.last_call = call
        call.replies = [shown(reply) for arg in args if isinstance(arg, Client) for reply in arg.replies]
        try:
            return call, function(*args, **kwargs)
        except Lost as lost:
            lost.call = call
            raise
        except Exception as error:
            raise Mismatch(call, expected, f"{type(error).__name__}: {cut(str(error))}", error) from error
        finally:
            call.printed = getattr(function, "printed", ())

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
        """Fail unless got equals expected, types included; `what` says what is compared after the last call."""
        if not same(got, expected):
            expected, got = difference(got, expected)
            raise Mismatch(self.last_call or what, f"{what}: {expected}", f"{what}: {got}")


def difference(got, expected):
    """Return (expected, got) as texts; of two records or lists alike in shape, just the first part that differs."""
    place = []
    while True:
        if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
            key = next(key for key in expected if not same(got[key], expected[key]))
        elif isinstance(expected, (list, tuple)) and kind(got) is kind(expected) and len(got) == len(expected):
            key = next(key for key in range(len(expected)) if not same(got[key], expected[key]))
        else:
            break
        place.append(str(key) if isinstance(key, str) else f"item {key + 1}")
        got, expected = got[key], expected[key]
    where = ", ".join(place) + ": " if place else ""
    if isinstance(got, (list, tuple)) and isinstance(expected, (list, tuple)) and len(got) != len(expected):
        return f"{where}{len(expected)} items: {shown(expected)}", f"{where}{len(got)} items: {shown(got)}"
    return f"{where}{shown(expected)}", f"{where}{shown(got)}"
