"""What the tests of every lab share. A test makes calls of the lab and says what each has to give.

One call: `self.returns(expected, lab.function, ...)`, `self.refuses(error, "field", lab.function, ...)`, or
`self.passes_on(exception, lab.function, ...)`; after it, `self.check("what is compared", got, expected)`.

Many calls of one kind are a table. A row says why it is a trap, and names what it varies:

    parsing = lambda row: partial(lab.parse_triage, row.raw, CATEGORIES)
    self.returns_each(parsing, [Row("a fence", raw=f"```\\n{RAW}\\n```", gives=ANSWER)], clause="P1")
    self.refuses_each(lab.TriageError, parsing, [
        Row("true is a bool, and bool is a kind of int", raw=reply(priority=True)),
        Row("null is not a number", raw=reply(priority=None), hint="Which values does your check let through?"),
    ], clause="P5", names="priority")

`gives` is the value to return, `names` what the message of the refusal holds. What all rows have in common (clause,
gives, names, hint, any field of your own) is said once, behind the table; a row that says otherwise counts. `after` is
a function of the row, called when its call did what it had to: there `self.check` looks at what else has happened.
`tries_each` takes rows of both kinds. The loops make a subTest for each row and send the calls to the submission's
process together, which is quicker; `call(row)` is therefore asked for the calls of all rows first.

A hint is a cause, never the answer, and it fits the row that failed: `hint=` of a row, `hint=` of a table for all its
rows, or a line `Hint P5: ...` in the test's docstring for the rows of a clause. Where the submission raises what it may
not, the row's reason and hint do not fit, and those of the exception are said in their place; a class of tests names
the exception that its functions may raise (`refusal = "TriageError"`). A function of a test that is used wrongly raises
a Misused. Data comes from grader/labdata.py: `fresh` renames it, `edits` makes texts that are almost right.
When a call fails, a Mismatch carries the call, the expected and the got as text, and the runner shows them.
"""

import builtins
import copy
import math
import sys
import unittest
from itertools import takewhile
from pathlib import Path
from unicodedata import normalize

sys.path.append(str(Path(__file__).resolve().parents[1] / "solution"))  # what is tested when no grader says otherwise

VALUE_LIMIT = 200  # characters of one value in a message
PLAIN_TYPES = (bool, int, float, str, bytes, list, tuple, dict, set, frozenset)


CRASH_HINTS = {  # {name of an exception: a cause to look for}, where the submission raised what it may not
    "NameError": "Python does not know this name here. Is it spelled as in the line that defines it, or is an import missing?",
    "UnboundLocalError": "On this way through the function the name has no value yet. Which line gives it one, and does it always run?",
    "KeyError": "This key is not there. Which check has to come before the line that reads it?",
    "IndexError": "This position has no item. How long can the list or text be here?",
    "TypeError": "Of which type is each value in this line when this call is made? What comes from outside can hold any type in any place.",
    "AttributeError": "Of which type is the value in this line when this call is made? What comes from outside can hold any type in any place.",
    "ValueError": "Does your try surround this line, and does it name the exception that is raised here?",
    "JSONDecodeError": "The text that is decoded here is not JSON. Is there still something around it? Does a try surround this line?",
    "RecursionError": "Python gives up on what is nested too deeply, and on a function that calls itself without end. Does your try surround this line, and does it name this exception?",
    "NotImplementedError": "Begin with this one call: which value does it have to give? Your lines take the place of this one.",
    "OverflowError": "A JSON number can be larger than Python can convert. Is there a need to convert it?",
    "UnicodeEncodeError": "A reply can hold half a character, which UTF-8 cannot encode. Is there a need to encode it?",
    "AssertionError": "An assert is for mistakes of a program. What is for a wrong reply?",
    "StopIteration": "next() on an empty iterator raises this. Look at the second argument of next().",
    "ZeroDivisionError": "What do you divide by here, and when is it 0?",
    "SystemExit": "This ends the whole program. What does the contract want here?",
}
CRASH_REASONS = {"EOFError": "nobody types while the tests run, so input() finds nothing to read"}
NOTHING = "a function gives None when it ends without a return; print() only shows a value"
NOTHING_HINT = "None means that no return was reached. Does every way through the function end in a return or a raise?"
NAME_HINT = "Of what does your message tell, and is its name in it? The example of this section shows one."
OWN_MISTAKES = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")  # whatever the call was


class Mismatch(AssertionError):
    """A call did not do what the contract says. Texts: call, expected, got; cause is the submission's exception.

    because and hint are said in the place of the row's, which is about another way to fail; None: the row's fits.
    """

    def __init__(self, call, expected, got, cause=None, because=None, hint=None):
        super().__init__(f"{call}\n  expected {expected}\n  got      {got}")
        self.call, self.expected, self.got, self.cause = call, expected, got, cause
        self.because, self.hint = because, hint


def crash(error):
    """Return the name of the built-in exception that an exception is or goes by, or None: then a lab has made it."""
    names = [name_of(error), *(kind.__name__ for kind in type(error).__mro__)]
    return next((name for name in names if name in CRASH_HINTS or name in OWN_MISTAKES or is_builtin(name)), None)


def left_debugger(error):
    """Return whether an exception comes from pdb: somebody has typed q."""
    step = error.__traceback__
    while step and step.tb_next:
        step = step.tb_next
    return bool(step) and Path(step.tb_frame.f_code.co_filename).name in ("pdb.py", "bdb.py")


def is_builtin(name):
    kind = vars(builtins).get(name)
    return isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception


def name_of(error):
    """Return the name of an exception's class; the submission's is told by an attribute."""
    return getattr(error, "name_of_class", type(error).__name__)


class Call:
    """A call of the submission; its text is made only when it is shown."""

    printed = ()  # what the submission printed during the call

    def __init__(self, function, args=(), kwargs=()):
        self.function, self.args, self.kwargs = function, args, dict(kwargs)

    @property
    def replies(self):
        """What the client among the arguments has played, as texts."""
        played = [reply for arg in self.args if isinstance(arg, Client) for reply in arg.replies[: len(arg.seen)]]
        return [f"raised {reply!r}" if isinstance(reply, BaseException) else shown(reply) for reply in played]

    def __str__(self):
        words = [brief(arg) for arg in self.args]
        words += [f"{name}={'TOOLS' if is_whitelist(arg) else brief(arg)}" for name, arg in self.kwargs.items()]
        return f"{getattr(self.function, '__name__', self.function)}({', '.join(words)})"


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
    return getattr(value, "__name__", None) or (
        repr(value) if isinstance(value, Client) else f"<{type(value).__name__}>"
    )


def brief(value):
    """Return an argument as a call shows it:
    a whitelist of tools by its signatures, cases by their number, other records by their ids.
    """
    if is_whitelist(value):
        tools = [f"{name}({spelled(tool.get('parameters'))[1:-1]})" for name, tool in value.items()]
        return "{" + ", ".join(tools).replace("'", "") + "}"
    if type(value) is list and len(value) > 1 and all(type(item) is dict and "id" in item for item in value):
        ids = ", ".join(shown(item["id"]) for item in value)
        return f"[{len(value)} cases]" if "expected" in value[0] else cut(f"[{len(value)} dicts with the ids {ids}]")
    return shown(value)


def is_whitelist(value):
    return (
        type(value) is dict
        and value != {}
        and all(type(tool) is dict and "function" in tool for tool in value.values())
    )


def said(error):
    """Return an exception as a message shows it."""
    message = cut(str(error))
    if isinstance(error, Misused):
        return message
    return f"{name_of(error)}: {message}" if message else name_of(error)


def kind(value):
    """Return the plain type that a value is of: bool, int, float, str, ...;
    a subclass counts as what it is built on.
    """
    if type(value) in PLAIN_TYPES:
        return type(value)
    return next((plain for plain in PLAIN_TYPES if isinstance(value, plain)), type(value))


def same(got, expected):
    """Return whether two values are equal in type and sign as well: True is not 1 here, 2.0 not 2, and -0.0 not 0.0."""
    if isinstance(expected, Containing):
        return expected.holds(got)
    if kind(got) is not kind(expected):
        return False
    if isinstance(expected, dict):
        return len(got) == len(expected) and all(key in got and same(got[key], expected[key]) for key in expected)
    if isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(expected, float):
        return got == expected and math.copysign(1, got) == math.copysign(1, expected)
    return got == expected


class Containing:
    """Stands for any text that holds each of the parts, in upper or lower case."""

    def __init__(self, *parts):
        self.parts = parts

    def holds(self, text):
        return isinstance(text, str) and all(part.lower() in text.lower() for part in self.parts)

    def __repr__(self):
        parts = " and ".join(shown(part) for part in self.parts if part)
        return f"<a text with {parts}>" if parts else "<a text>"


def copied(messages):
    """Return a copy of a conversation: whoever asked may let its own list grow."""
    if type(messages) is list and all(type(message) is dict for message in messages):
        return [dict(message) for message in messages]
    return copy.deepcopy(messages)


class Beginning:
    """Says in the place of a name that a refusal's message begins with these letters, not only has them in it."""

    def __init__(self, start):
        self.start = start


def naming(named):
    """Return (whether a message is as a refusal's has to be: a function of it; that in words: what it does;
    what it has to do).
    """
    if isinstance(named, Beginning):
        return (
            (lambda text: text.startswith(named.start)),
            f" whose message begins with {named.start}",
            f"begin with {named.start}",
        )
    return (lambda text: named in text), f" that names {named}" if named else "", f"name {named}"


class Misused(Exception):
    """What a function of a test says of the way in which the submission has called it: all that is shown of it."""


class Client:
    """A client that plays replies and keeps copies of what it was asked; an exception among them is raised.

    end: what follows from the last reply, as a message says it when the client is asked once more.
    """

    def __init__(self, *replies, end="which is the last one"):
        self.replies, self.end = replies, end
        self.seen = []

    def __call__(self, messages):
        self.seen.append(copied(messages))
        if len(self.seen) > len(self.replies):
            last = shown(messages[-1]) if type(messages) is list and messages else shown(messages)
            raise Misused(
                f"the client was asked again after reply {len(self.replies)}, {self.end}. It was sent last: {last}"
            )
        reply = self.replies[len(self.seen) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    @property
    def next_replies(self):
        """The texts that it plays next, whatever it is asked. The grader sends them along, so that nobody waits."""
        return list(takewhile(lambda reply: type(reply) is str, self.replies[len(self.seen) :]))

    def __repr__(self):
        return "client"


class Row:
    """A row of a table: why it is a trap, and by name what it varies. A field that it lacks comes from the table."""

    clause = hint = after = None
    names = ""

    def __init__(self, because, **fields):
        self.because = because
        vars(self).update(fields)

    def with_common(self, fields):
        """Return this row with the fields that its table says for all rows."""
        row = Row.__new__(Row)
        row.__dict__ = {**fields, **vars(self)}
        return row


class LabTest(unittest.TestCase):
    """A TestCase whose failures say which call was made, what was expected and what the submission gave."""

    last_call = None
    running = None  # the Call that was made last, by any test
    refusal = ""  # the name of the one exception that the functions of a class of tests may raise of their own

    def outcome(self, function, args, kwargs):
        """Call, and return (call, value, exception raised instead or None)."""
        call = self.last_call = LabTest.running = Call(function, args, kwargs)
        try:
            return call, function(*args, **kwargs), None
        except Exception as error:  # that the submission is gone is not one: there is nothing to compare
            if type(error).__name__ == "BdbQuit" and left_debugger(error):
                raise KeyboardInterrupt from error
            return call, None, error
        except BaseException as error:  # the submission is gone, or somebody has stopped it
            if isinstance(error, SystemExit) and left_debugger(error):
                raise KeyboardInterrupt from error
            error.call = getattr(error, "call", None) or call  # the first, where later calls meet the same loss
            raise
        finally:
            call.printed = getattr(function, "printed", ())

    def ahead(self, calls):
        """Say which calls, functools.partial objects, you make next. That changes nothing but the time they take."""
        send_ahead(list(calls))

    def crashed(self, call, expected, error, refusal=""):
        """Return the Mismatch of a call that raised what it may not; refusal: the name of what it had to raise."""
        name, only = crash(error), refusal or self.refusal
        if name is None and not refusal:  # an exception of the lab's, which the row is about
            return Mismatch(call, expected, said(error), error)
        because = f"{name_of(error)} left the function" + (f", and only {only} may" if only else "")
        because = CRASH_REASONS.get(name, because)
        hint = CRASH_HINTS.get(name)
        if name in OWN_MISTAKES or str(error).startswith("breakpoint()"):
            because, hint = "", hint or ""
        return Mismatch(call, expected, said(error), error, because, hint)

    def value_of(self, expected, function, *args, **kwargs):
        """Call and return the value; fail when it raises. `expected` says in words what it has to return."""
        call, value, error = self.outcome(function, args, kwargs)
        if error is not None:
            raise self.crashed(call, expected, error) from error
        return value

    def returns(self, expected, function, *args, **kwargs):
        """Call; fail unless the value equals expected, types included. Return the value."""
        call, got, error = self.outcome(function, args, kwargs)
        if error is not None:
            raise self.crashed(call, shown(expected), error) from error
        if not same(got, expected):
            raise Mismatch(call, *difference(got, expected), None, *((NOTHING, NOTHING_HINT) if got is None else ()))
        return got

    def refuses(self, refusal, named, function, *args, **kwargs):
        """Call; fail unless it raises refusal (a class) with a message that has `named` in it. Return the message.

        named: a text, or Beginning(text) where the contract says with what the message begins.
        """
        fits, does, has_to = naming(named)
        call, got, error = self.outcome(function, args, kwargs)
        if error is not None and isinstance(error, refusal) and fits(str(error)):
            return str(error)
        expected = f"{refusal.__name__}{does}"
        if error is None:
            raise Mismatch(call, expected, shown(got), hint=NOTHING_HINT if got is None else None)
        if isinstance(error, refusal):
            raise Mismatch(call, expected, said(error), error, f"the message has to {has_to}", NAME_HINT) from error
        raise self.crashed(call, expected, error, refusal.__name__) from error

    def passes_on(self, failure, function, *args, **kwargs):
        """Call; fail unless that very exception leaves it."""
        call, got, error = self.outcome(function, args, kwargs)
        if error is not failure:
            raise Mismatch(call, f"{failure!r} comes out as it is", shown(got) if error is None else said(error), error)

    def check(self, what, got, expected, because=None, hint=None):
        """Fail unless got equals expected, types included; `what` says what is compared after the last call.

        because and hint are said in the place of the row's.
        """
        if not same(got, expected):
            expected, got = difference(got, expected)
            raise Mismatch(self.last_call or what, f"{what}: {expected}", f"{what}: {got}", None, because, hint)

    def returns_each(self, call, rows, **common):
        """Make the call of each row, a functools.partial; fail where the value is not what the row `gives`."""
        return self.tries_each(None, call, rows, **common)

    def refuses_each(self, refusal, call, rows, **common):
        """Make the call of each row; fail where it does not raise refusal with what the row `names`.
        Return the messages.
        """
        return self.tries_each(refusal, call, rows, **common)

    def tries_each(self, refusal, call, rows, **common):
        """Make the call of each row: one with `gives` has to return it, another to raise refusal.
        Return what they gave.
        """
        rows = [row.with_common(common) for row in rows]
        calls, given = list(map(call, rows)), []
        send_ahead(calls)
        for row, made in zip(rows, calls):
            try:
                given.append(self.tries(refusal, row, made))
            except BaseException:  # a subTest costs more than the call, so only a row that fails has one
                with self.subTest(
                    clause=row.clause, because=row.because, **({} if row.hint is None else {"hint": row.hint})
                ):
                    raise
        return given

    def tries(self, refusal, row, made):
        """Make the call of one row, and look at what it gave and at what else has happened."""
        if hasattr(row, "gives"):
            given = self.returns(row.gives, made.func, *made.args, **made.keywords)
        elif refusal:
            given = self.refuses(refusal, row.names, made.func, *made.args, **made.keywords)
        else:
            raise TypeError(f"a row does not say what it gives: {row.because}")
        if row.after:
            row.after(row)
        return given


def send_ahead(calls):
    """Tell a stand-in for a function of another process which calls (functools.partial) come next:
    it sends them together.
    """
    send = getattr(calls[0].func, "ahead", None) if calls else None
    if send:
        send(calls)


def difference(got, expected):
    """Return (expected, got) as texts; of two records or lists alike in shape, just the first part that differs."""
    place = []
    while True:
        if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
            key = next(key for key in expected if not same(got[key], expected[key]))
        elif isinstance(expected, (list, tuple)) and kind(got) is kind(expected) and got and expected:
            pairs = zip(got, expected)
            key = next((key for key, pair in enumerate(pairs) if not same(*pair)), min(len(got), len(expected)))
        else:
            break
        place.append(str(key) if isinstance(key, str) else f"{kind_of_item(expected or got)} {key + 1}")
        if not isinstance(key, str) and key >= min(len(got), len(expected)):
            texts = (
                shown(values[key]) if key < len(values) else f"there are only {len(values)}"
                for values in (expected, got)
            )
            return tuple(f"{', '.join(place)}: {text}" for text in texts)
        got, expected = got[key], expected[key]
    where = ", ".join(place) + ": " if place else ""
    if type(expected) is type(got) is str and normalize("NFC", expected) == normalize("NFC", got):
        return tuple(where + cut(ascii(text)) for text in (expected, got))  # they look alike: numbers tell what differs
    return f"{where}{shown(expected)}", f"{where}{shown(got)}"


def kind_of_item(values):
    """Return what an item of a list is called: a request of a client, a message of a conversation, or just an item."""
    if all(isinstance(value, dict) and "role" in value for value in values):
        return "message"
    if all(isinstance(value, list) and value and kind_of_item(value) == "message" for value in values):
        return "request"
    return "item"
