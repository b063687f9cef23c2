"""What is said with one worker, beside the table in protocol.py: a line goes, a line comes, each in time."""

import collections
import itertools
import operator
import time

from grader.line.errors import Lost, nearest_builtin, raised_error
from grader.line.protocol import (
    ANSWERS,
    FROM_FAR,
    MESSAGE_LIMIT,
    NAMES_LIMIT,
    OUTPUT_LIMIT,
    STRICT_DECODER,
    Malformed,
    decode,
    encode,
    fields_of,
    line_of,
)

START_LIMIT = 60.0  # seconds for an interpreter to start, wherever --exec puts it; then the submission's time begins
ITEM_SIZE = 64  # bytes of memory that an item of a list or dict takes at least
WAY_LIMIT = 0.1  # seconds that a line may take on its way from elsewhere (--exec), which are not the submission's
WAYS_LIMIT = 60.0  # seconds that all ways of a test may take together
TOTAL_LIMIT = 8 * MESSAGE_LIMIT  # bytes of memory for what a worker sends in one test, roughly


class TimeLeft:
    """The time of one test, which its calls share. It stands still while a worker starts and loads."""

    def __init__(self, seconds, way=0.0):
        self.seconds = seconds  # for each test
        self.way = way  # seconds of each wait for a line that do not count
        self.begin()

    def begin(self):
        """Start the time of a test."""
        self.ways_left = WAYS_LIMIT
        self.left = self.seconds  # when the time stands still
        self.go()

    def allow(self, seconds, reason):
        """From now on the worker has that many seconds; past them it is lost for that reason."""
        self.deadline = time.monotonic() + seconds
        self.reason = reason

    def give_back(self, waited):
        """Add what the way may have taken of a wait for a line."""
        on_the_way = min(waited, self.way, self.ways_left)
        self.ways_left -= on_the_way
        self.deadline += on_the_way

    def stop(self):
        self.left = self.deadline - time.monotonic()

    def go(self):
        self.allow(self.left, f"it ran longer than {self.seconds:g} s")


class Received:
    """What a worker has sent in one test."""

    def __init__(self):
        self.total = 0  # bytes of memory, roughly: tests may keep it all
        self.printed = []  # [[text, number of bytes left out], ...] of what the submission has printed
        self.kept = 0  # characters in these texts

    def count(self, line):
        """Count a line before it is decoded; Malformed when it is too much."""
        self.total += weight(line)
        if self.total > TOTAL_LIMIT:
            raise Malformed(f"more than {TOTAL_LIMIT:,} bytes in one test")

    def keep(self, text, dropped):
        """Keep what the submission printed, up to a limit of its own for each test: so it does not count."""
        self.total -= weight(text.encode("utf-8", "surrogatepass"))
        room = OUTPUT_LIMIT - self.kept
        if text or dropped:
            self.printed.append([text[:room], dropped + len(text[room:])])
            self.kept += len(text[:room])


def weight(text):
    """Return roughly how many bytes of memory the values in a line take."""
    return len(text) + ITEM_SIZE * sum(map(text.count, (b",", b"[", b"{")))


class Given:
    """The functions and iterators of one call. The worker asks for them by number, and none is used twice for it."""

    def __init__(self, numbers, gone=None):
        """gone: the clients whose replies have gone to the worker with calls that are not made yet."""
        self.numbers = numbers  # an iterator that all calls share
        self.known = {}  # {number: function or iterator}
        self.replies = {}  # {number: the replies that have gone along}
        self.gone = [] if gone is None else gone

    def add(self, value):
        """Return the number as which a function or iterator crosses, and the replies that go along."""
        number, replies = next(self.numbers), []
        self.known[number] = value
        if hasattr(value, "next_replies") and not any(value is client for client in self.gone):
            replies = self.replies[number] = value.next_replies
            self.gone.append(value)
        return number, list(replies)


class Ahead:
    """A call that the worker has got already, and that the tests are about to make."""

    def __init__(self, call, given):
        """call: a functools.partial."""
        self.call, self.given = call, given

    def is_of(self, name, args, kwargs):
        """Return whether this is the call: of the same function, with the same objects."""
        same = (
            self.call.func.__name__ == name
            and len(args) == len(self.call.args)
            and kwargs.keys() == self.call.keywords.keys()
        )
        return (
            same
            and all(map(operator.is_, args, self.call.args))
            and all(kwargs[key] is self.call.keywords[key] for key in kwargs)
        )


class Conversation:
    """What is said with one worker. Whatever it says or fails to say that it should not becomes a Lost."""

    def __init__(self, worker, time_left, received, files):
        self.worker = worker  # a WorkerProcess
        self.channel = worker.channel
        self.time = time_left
        self.files = files  # names of the submission's files
        self.errors = {}  # {name: class} of the lab's exceptions
        self.received = received  # in the running test
        self.closed_in, self.why_not = [], ""  # what for the worker has closed itself in, and why not for the rest
        self.due = ANSWERS[None]  # the kinds that may come next
        self.numbers = itertools.count()  # of what is given to the worker
        self.ahead = collections.deque()  # the calls whose answers are not read yet

    # ---- what the tests want

    def begin(self):
        """Wait until the worker is ready. What it says then can be believed: it has not got the submission yet."""
        self.time.allow(START_LIMIT, f"its process did not start within {START_LIMIT:g} s")
        if self.worker.to_send:
            self.write(self.worker.to_send)
        _, fields = self.receive()
        self.closed_in, self.why_not = fields["closed_in"], fields["why_not"]

    def load(self, module, sources, errors, memory):
        """Have the submission loaded; return the names of its functions, and of its exceptions as handed out.

        errors: {name: names of bases}. Lost says why it does not load.
        """
        seconds = self.time.seconds
        self.time.allow(seconds, f"it did not load within {seconds:g} s")
        processor = int(seconds + 2) * 20  # seconds of the processor: for all tests, in case that this process dies
        self.send("load", module, sources, errors, memory, processor)
        kind, fields = self.receive()
        if kind == "raised":
            error = self.checked(raised_error, fields, {}, [], self.files)
            raise Lost(f"it does not load: {error.name_of_class}{': ' if str(error) else ''}{error}", error.place)
        for names in fields.values():
            if len(names) > NAMES_LIMIT or any(type(name) is not str for name in names):
                raise self.malformed("too many names, or names that are not texts")
        return fields["functions"], fields["errors"]

    def call(self, name, args, kwargs):
        """Let the worker make a call; return (value, None), or (None, the exception that it raised)."""
        if self.ahead:
            return self.outcome(self.ahead.popleft().given)
        given = Given(self.numbers)
        self.send("call", name, encode(list(args), given.add), encode(kwargs, given.add))
        return self.outcome(given)

    def may_call(self, name, args, kwargs):
        """Return whether the worker is free for this call: none was sent ahead, or this one is the next of these."""
        return not self.ahead or self.ahead[0].is_of(name, args, kwargs)

    def send_ahead(self, name, calls):
        """Let the worker make calls that the tests make next, functools.partial objects, one after the other."""
        gone = []
        made = [Ahead(call, Given(self.numbers, gone)) for call in calls]
        self.send(
            "calls",
            name,
            [[encode(list(one.call.args), one.given.add), encode(one.call.keywords, one.given.add)] for one in made],
        )
        self.ahead.extend(made)
        return None, None

    def main(self, argv, files, encoding):
        """Let the worker run main; return as call does, the value being (exit code, stdout, stderr)."""
        self.send("main", encode(list(argv)), encode(files), encoding)
        value, error = self.outcome(Given(self.numbers))
        if error is None and not (
            type(value) is tuple and len(value) == 3 and list(map(type, value[1:])) == [str, str]
        ):
            raise self.malformed("main's result")
        return value, error

    # ---- what the worker wants

    def outcome(self, given):
        """Answer what the worker asks for, until it returns or raises; return (value, None) or (None, exception)."""
        foreign = []  # exceptions that functions of the tests raise in this call
        while True:
            kind, fields = self.receive()
            if kind == "returned":
                return fields["value"], None
            if kind == "raised":
                return None, self.checked(raised_error, fields, self.errors, foreign, self.files)
            if kind == "asked":
                self.hear(fields, given)
            else:
                self.send(*self.answer(kind, fields, given, foreign))

    def hear(self, fields, given):
        """Let a client hear what it was asked; its reply is the one that has gone along."""
        client, replies = given.known.get(fields["number"]), given.replies.get(fields["number"])
        if client is None:
            return  # a thread of an earlier call asks late: it has its reply, and its client is done
        if not replies or len(fields["args"]) != 1 or fields["kwargs"]:
            raise self.malformed("a question whose reply it has not got")
        if client(*fields["args"]) != replies.pop(0):
            raise self.malformed("a question out of turn")

    def answer(self, kind, fields, given, foreign):
        """Call the function (or iterator) that the worker asks for; return the message that says what it gave."""
        function = given.known.get(fields["number"])
        try:
            if function is None:
                raise RuntimeError("this function came with an earlier call, which is over")
            if (kind == "next") is not hasattr(type(function), "__next__"):
                raise self.malformed("it takes a function for an iterator")
            value = (
                next(function)
                if kind == "next"
                else function(*fields["args"], **self.checked(keywords, fields["kwargs"]))
            )
        except Exception as error:
            if kind == "next" and isinstance(error, StopIteration):
                return ("end",)
            foreign.append(error)
            return (
                "failure",
                len(foreign) - 1,
                type(error).__name__,
                nearest_builtin(type(error)),
                encode(list(error.args)),
            )
        return "answer", encode(value, given.add)

    # ---- the line

    def send(self, kind, *contents):
        """Send one message, at a time when the worker has none to send."""
        if self.channel.has_unread():
            raise self.malformed("a line before it was asked")
        self.due = ANSWERS[kind]
        self.write(line_of(kind, *contents))

    def write(self, data):
        try:
            self.channel.write(data, self.time.deadline)
        except TimeoutError:
            raise self.late() from None
        except (OSError, EOFError) as error:
            raise self.gone() from error

    def receive(self):
        """Return (kind, fields) of the next message, its values decoded; Lost when it is not what is due now."""
        try:
            began = time.monotonic()
            line = self.channel.read(self.time.deadline)
            self.time.give_back(time.monotonic() - began)
            self.received.count(line)
            kind, fields = fields_of(line, STRICT_DECODER, FROM_FAR, self.due, decode)
        except TimeoutError:
            raise self.late() from None
        except (OSError, EOFError) as error:
            raise self.gone() from error
        except Malformed as fault:
            raise self.malformed(fault) from fault
        if "printed" in fields:
            self.received.keep(*fields.pop("printed"))
        return kind, fields

    def checked(self, read, *given):
        """Return what read makes of a part of a message; Lost when it is Malformed."""
        try:
            return read(*given)
        except Malformed as fault:
            raise self.malformed(fault) from fault

    # ---- how it can be lost: these make the exception, the caller raises it

    def late(self):
        return Lost(self.time.reason, self.worker.running_place(self.files))

    def gone(self):
        return Lost(self.worker.how_it_ended())

    def malformed(self, fault):
        return Lost(f"its process sent what the protocol does not allow: {str(fault)[:160]}")


def keywords(names):
    """Return a dict of keyword arguments; Malformed when a name is not a text."""
    if any(type(name) is not str for name in names):
        raise Malformed("arguments whose names are not texts")
    return names
