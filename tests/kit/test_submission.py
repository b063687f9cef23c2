"""The line between tests and a submission: what crosses, and what is refused."""

import importlib
import json
import math
import os
import shlex
import sys
import tempfile
import time
import tracemalloc
import unittest
from functools import partial
from pathlib import Path
from unittest import mock

import kit
import labtest
from grader.grading import grade_session
from grader.line import protocol
from grader.line.conversation import Conversation
from grader.line.errors import Lost, SubmissionError, error_classes, raised_error
from grader.line.process import Limits
from grader.line.protocol import (
    ANSWERS, DEPTH_LIMIT, FROM_FAR, FROM_NEAR, MESSAGE_LIMIT, OUTCOMES, STRICT_DECODER, Malformed, Opaque, decode, encode, fields_of, line_of,
)
from grader.line.session import RemoteModule, Session, command_line

QUIET = ["", 0]


def line(**content):
    return json.dumps({"printed": QUIET, **content}).encode()


def read(text, due=OUTCOMES):
    """Return (kind, fields) of a line from the worker, as the grader reads it."""
    return fields_of(text, STRICT_DECODER, FROM_FAR, due, decode)


def crossed(value, number_of=None):
    """Return what a value is at the other end."""
    return read(line_of("returned", encode(value, number_of))[:-1])[1]["value"]


def nested(depth, make=lambda inner: [inner]):
    value = 0
    for _ in range(depth):
        value = make(value)
    return value


class OddInt(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class OddText(str):
    def __str__(self):
        return "a lie"


INSIDE = DEPTH_LIMIT - 1  # a call's arguments are a list, which is one level
VALUES = [
    None, True, False, 0, -1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**400, 0.0, -0.0, 1.5, 1e300, math.inf, -math.inf,
    "", "żółć 包 \U0001f4e6", "\0\n\u2028", "\ud800", b"", b"\0\xff", [], [[], [None]], (), (1,), ((), [()]), {}, {"": {}},
    {1: "int", "1": "text", (1, 2): "tuple", None: 0, 2.5: 0, b"b": 0, frozenset({1}): 0}, {"dict": []}, {"int": "0x1"},
    {"$int": "0x1"}, {"$": 1}, {"$tuple": [1], "more": 2}, [{"$set": []}], {"$dict": {"$dict": []}}, {"\\$": 1}, {"": {"$x": None}},
    set(), {1, "a", (2,)}, frozenset(), frozenset({frozenset()}),
    nested(INSIDE), nested(INSIDE, lambda inner: {"k": inner}), nested(INSIDE, lambda inner: (inner,)),
]


def typed(value):
    """Return a value with its types spelled out, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return ["dict", [[typed(key), typed(item)] for key, item in value.items()]]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, list(map(typed, value))]
    return [type(value).__name__, repr(sorted(map(repr, value))) if isinstance(value, (set, frozenset)) else repr(value)]


class Values(unittest.TestCase):
    def test_every_value_comes_back_as_it_went(self):
        for value in VALUES:
            with self.subTest(ascii(value)[:60]):
                self.assertEqual(typed(crossed(value)), typed(value))

    def test_a_subclass_is_worth_its_content(self):
        self.assertEqual(typed(crossed([OddInt(7), OddText("true")])), typed([7, "true"]))
        self.assertEqual(typed(crossed({OddText("k"): OddText("true")})), typed({"k": "true"}))

    def test_what_cannot_cross_equals_nothing(self):
        deep = nested(DEPTH_LIMIT + 1)
        for value in (object(), 3j, range(3), OddInt, int, type(None), nested, iter([]), 1 << 20_000):
            with self.subTest(type(value)):
                got = crossed(value)
                self.assertIs(type(got), Opaque)
                self.assertFalse(got == got or got == value)
        self.assertNotEqual(crossed(deep), deep)
        self.assertIn("nested too deep", repr(crossed(deep)))

    def test_decode_refuses_what_encode_does_not_write(self):
        many = [[number, 0] for number in range(protocol.KEYS_LIMIT + 1)]
        rows = [
            {"$a": 1}, {"$list": []}, {"$record": []}, {"$": "a"}, {"$": {"a": {}}}, {"$record": None}, {"$dict": 5}, {"$dict": [1]}, {"$dict": [[1]]}, {"$dict": [[1, 2, 3]]}, {"$dict": [[[], 1]]},
            {"$dict": [["a", 1], ["a", 2]]}, {"$dict": [[1, 1], [True, 2]]}, {"$dict": [[{"$dict": []}, 1]]}, {"$dict": many},
            {"$set": [[]]}, {"$set": [1, 1]}, {"$set": [1, 1.0]}, {"$set": "ab"}, {"$frozenset": None}, {"$tuple": {}}, {"$tuple": 1},
            {"$int": 5}, {"$int": "x"}, {"$int": "0x" + "f" * 5000}, {"$float": "1.5"}, {"$float": "1e9"}, {"$float": "NAN"},
            {"$bytes": "0"}, {"$bytes": "zz"}, {"$bytes": []}, {"$type": "int"}, {"$type": "NoneType"}, {"$type": "eval"}, {"$type": []}, {"$opaque": 1},
            {"$callable": [0, "f"]}, {"$next": [0, "f"]}, {"$tuple": {"$tuple": []}}, {"$\ud800": "x"}, {"$" + "x" * 9999: "y" * 9999},
            {"k": {"$int": 5}}, {"$set": {"$set": []}}, {"$tuple": {"k": 1}},
            nested(DEPTH_LIMIT + 2), nested(DEPTH_LIMIT + 2, lambda inner: {"$tuple": [inner]}),
            nested(DEPTH_LIMIT + 2, lambda inner: {"$dict": [["k", inner]]}),
            nested(DEPTH_LIMIT + 2, lambda inner: {"k": inner}),
        ]
        for value in rows:
            with self.subTest(ascii(value)[:60]), self.assertRaises(Malformed) as caught:
                decode(value)
            self.assertLess(len(str(caught.exception)), 300)

    def test_a_value_that_is_found_before_others_of_its_kind_is_not_taken_for_them(self):
        self.assertEqual([math.copysign(1, crossed(value)) for value in (0.0, -0.0)], [1.0, -1.0])
        halves, whole = "\ud83d\ude00", "\U0001f600"
        for value in (halves, whole, [halves + whole], {halves: whole}, {whole: halves}, {"$tuple": halves}, (halves, {1: halves})):
            self.assertEqual(typed(crossed(value)), typed(value))

    def test_a_message_of_full_length_is_decoded_in_time(self):
        prime = (1 << 61) - 1
        colliding = [{"$set": [{"$int": hex(prime * (n + 9))} for n in range(protocol.KEYS_LIMIT)]}] * 150
        pairs = {"$tuple": [["a"]] * 100_000}
        for value in ([[]] * 250_000, colliding, [1.5] * 200_000, "\ud800" * 150_000, pairs):
            text = json.dumps({"kind": "returned", "printed": QUIET, "value": value})
            self.assertLess(len(text), MESSAGE_LIMIT)
            started = time.process_time()
            decoded = read(text.encode())[1]["value"]
            self.assertLess(time.process_time() - started, 3.0)
            self.assertEqual(len(decoded), 100_000 if value is pairs else len(value))


class Lines(unittest.TestCase):
    def test_a_line_of_the_right_kind_is_taken_and_all_else_is_refused(self):
        self.assertEqual(read(line(kind="returned", value=[1])), ("returned", {"value": [1], "printed": QUIET}))
        rows = [
            b"", b"null", b"[]", b"5", b'"returned"', b"{}", b"{", b' {"kind": "returned"}', b'{"kind": "returned"} ', b"\xff\xfe", "é".encode(), b"\0",
            line(kind="returned").decode().encode("utf-16"), b"\xef\xbb\xbf" + line(kind="returned"), line(kind="returned") * 2,
            line(kind="returned"), line(kind="returned", value=1, more=2), line(kind="returned", values=1), line(kind="next", number=1.0),
            line(kind="next", number="1"), line(kind="ask", number=1, args={}, kwargs={}), line(kind="ask", number=1, args=[], kwargs=[]),
            line(kind="ask", number=1, args=[]), line(kind="raised", **{**Errors.RIGHT, "lab": ["TriageError"]}), line(kind="raised"),
            line(kind="loaded", functions=[], errors=[]), line(kind=["returned"]), line(kind={}), line(kind=None), line(kind=1), line(kind="RETURNED"),
            line(kind="returned", printed=None), line(kind="returned", printed=[0, ""]), line(kind="returned", printed=["", -1]),
            line(kind="returned", printed=["", True]), line(kind="returned", printed=["", 1.0]), line(kind="returned", printed=["", 0, 0]),
            line(kind="returned", value=math.nan), line(kind="returned", value=math.inf), line(kind="returned", value=10**30),
            b'{"kind": "returned", "kind": "raised"}',
            b'{"kind": "returned", "value": {"$tuple": [], "$tuple": []}}',
            b'{"kind": ' + b"[" * 100_000, b'{"kind": ' + b'{"":' * 100_000, b"7" * 100_000,
        ]
        for text in rows:
            with self.subTest(text[:60]), self.assertRaises(Malformed) as caught:
                read(text)
            self.assertLess(len(str(caught.exception)), 400)


class Table(unittest.TestCase):
    """The table at the head of the protocol is what both ends do."""

    def test_each_message_is_read_as_it_was_written_with_just_its_fields(self):
        examples = {str: "x", int: 3, dict: {"k": []}, list: [], type(None): None}
        for table in (FROM_NEAR, FROM_FAR):
            for kind, fields in table.items():
                contents = [examples[types[0]] if types else None for types in fields.values()]
                text = line_of(kind, *contents)[:-1]
                got, read = fields_of(text, STRICT_DECODER, table, (kind,), decode)
                self.assertEqual((got, list(read), list(read.values())), (kind, list(fields), contents))
                for name in fields:
                    less = {key: value for key, value in json.loads(text).items() if key != name}
                    with self.subTest(kind, without=name), self.assertRaises(Malformed):
                        fields_of(json.dumps(less).encode(), STRICT_DECODER, table, (kind,), decode)

    def test_what_may_follow_each_message_is_said_and_goes_the_other_way(self):
        self.assertEqual(set(ANSWERS) - {None}, set(FROM_NEAR) | {"ask", "next"})
        for kind, answers in ANSWERS.items():
            self.assertLessEqual(set(answers), set(FROM_NEAR if kind in FROM_FAR else FROM_FAR))


class Errors(unittest.TestCase):
    RIGHT = {"class": "Odd", "lab": None, "builtin": "Exception", "same": None, "message": "m", "place": None}

    def test_the_exceptions_of_a_lab_are_related_as_in_the_hand_out(self):
        bases = {"A": ["Exception"], "B": ["A"], "C": ["B"], "D": ["A", "LookupError"], "E": ["ValueError"]}
        classes = error_classes(bases)
        for name, others in {"B": "A", "C": "BA", "D": "A"}.items():
            self.assertTrue(all(issubclass(classes[name], classes[other]) for other in others))
        self.assertFalse(issubclass(classes["A"], classes["B"]) or issubclass(classes["E"], classes["A"]))
        self.assertTrue(issubclass(classes["D"], LookupError) and issubclass(classes["E"], ValueError))
        self.assertTrue(all(issubclass(kind, SubmissionError) for kind in classes.values()))
        error = raised_error({**self.RIGHT, "class": "Own", "lab": "C", "message": "x"}, classes, [], set())
        self.assertEqual((type(error), error.name_of_class, str(error)), (classes["C"], "Own", "x"))

    def test_a_worker_that_names_an_exception_of_its_own_gets_no_class_for_it(self):
        """No type is made from what it says, whatever that is."""
        kinds = set()
        for name in ("Odd", "TriageError", "", "\n15 of 15 passed", "\0", "\ud800", "x" * 9999, "KeyboardInterrupt", "SkipTest", "__class__"):
            for builtin in ("Exception", "ValueError", "MemoryError", "ExceptionGroup", "StopIteration", "KeyboardInterrupt", "eval", "", "\0"):
                for lab in (None, "TriageError", "ValueError", "__class__", ""):
                    with self.subTest(name=name[:20], builtin=builtin, lab=lab):
                        error = raised_error({**self.RIGHT, "class": name, "builtin": builtin, "lab": lab}, {}, [], set())
                        self.assertEqual(str(error), "m")
                        self.assertTrue(len(error.name_of_class) < 500 and "\n" not in error.name_of_class)
                        kinds.add(type(error).__name__)
        self.assertEqual(kinds, {"SubmissionError", "ValueError"})
        error = raised_error({**self.RIGHT, "message": "y" * 99_999, "builtin": "KeyError"}, {}, [], set())
        self.assertEqual((len(str(error)), isinstance(error, KeyError)), (protocol.TEXT_LIMIT, True))

    def test_an_exception_that_was_never_raised_here_is_refused(self):
        given = ValueError()
        self.assertIs(raised_error({**self.RIGHT, "same": 0}, {}, [given], set()), given)
        for same in (1, -1):
            with self.subTest(same=same), self.assertRaises(Malformed):
                raised_error({**self.RIGHT, "same": same}, {}, [given], set())

    def test_only_lines_of_the_submissions_own_files_are_taken(self):
        wrong = (["/etc/passwd", 1], ["", 1], ["a.py", "1"], ["a.py", True], [[], 1], ["a.py", 2, 3], [], None)
        for place, expected in ((["a.py", 9], ("a.py", 9)), *((place, None) for place in wrong)):
            with self.subTest(place=place):
                error = raised_error({**self.RIGHT, "place": place}, {}, [], {"a.py"})
                self.assertEqual(error.place, expected)


class Place(unittest.TestCase):
    """A folder for a test, and sessions in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for lab in kit.LABS:  # grading puts a stand-in in the place of the lab
            self.addCleanup(sys.modules.__setitem__, lab, importlib.import_module(lab))

    def session(self, text, workers=None, **limits):
        path = self.folder / "ticket_triage.py"
        path.write_text(text, encoding="utf-8")
        session = Session(path, Limits(**limits), workers=workers)
        session.__enter__()
        self.addCleanup(session.__exit__)
        return session, RemoteModule("ticket_triage", session)


FAKE = r"""
import json, re, sys
source = sys.stdin.buffer.read(int(re.search(r"read\((\d+)\)", sys.argv[-1])[1]))
for part in json.load(open(sys.argv[1], encoding="utf-8")):
    if part is None:
        sys.stdin.buffer.readline()
    else:
        sys.stdout.buffer.write(part.encode("latin-1"))
        sys.stdout.buffer.flush()
"""
READY, LOADED = (line(**fields).decode() + "\n" for fields in ({"kind": "ready"}, {"kind": "loaded", "functions": ["f"], "errors": ["TriageError"]}))


class Sessions(Place):
    def fake(self, *parts, seconds=1.0):
        """Return the lab of a worker that writes these parts; where one is None it reads a line first."""
        (self.folder / "fake.py").write_text(FAKE, encoding="utf-8")
        (self.folder / "parts.json").write_text(json.dumps(parts), encoding="utf-8")
        words = [sys.executable, "-I", "-S", str(self.folder / "fake.py"), str(self.folder / "parts.json")]
        return self.session("# in its place a fake answers\n", seconds=seconds, prefix=" ".join(map(shlex.quote, words)))

    def test_a_fake_worker_that_keeps_to_the_protocol_is_believed(self):
        returned = line(kind="returned", value={"$tuple": [1]}).decode() + "\n"
        ask = line(kind="ask", number=0, args=[5], kwargs={}).decode() + "\n"
        session, lab = self.fake(READY, None, LOADED, None, ask, None, returned)
        seen = []
        self.assertEqual(lab.f(seen.append), (1,))
        self.assertEqual(seen, [5])

    def test_a_line_that_is_wrong_loses_the_test(self):
        ask = {"kind": "ask", "number": 0, "args": [], "kwargs": {}}
        raised = {"kind": "raised", **Errors.RIGHT}
        rows = [
            ("not JSON", ["hello\n"], "hello"),
            ("another kind", [line(kind="loaded").decode() + "\n"], "another kind"),
            ("no value", [line(kind="returned", value={"$x": 1}).decode() + "\n"], "neither a text nor a list"),
            ("too long", ["x" * (MESSAGE_LIMIT + 70_000)], "a line of more than"),
            ("half a line", ['{"kind": "returned"'], "ended by itself (exit code 0)"),
            ("nothing", [], "ended by itself (exit code 0)"),
            ("a number that is true", [line(**{**ask, "number": True}).decode() + "\n"], "number is not what it should be"),
            ("an iterator that is none", [line(kind="next", number=0).decode() + "\n"], "for an iterator"),
            ("arguments that are none", [line(**{**ask, "args": 5}).decode() + "\n"], "args is not what it should be"),
            ("names that are none", [line(**{**ask, "kwargs": {"$dict": [[1, 2]]}}).decode() + "\n"], "names are not texts"),
            ("an answer after a question", [line(**ask).decode() + "\n" + line(kind="returned", value=1).decode() + "\n"], "before it was asked"),
            ("an exception of nobody", [line(**{**raised, "same": 0}).decode() + "\n"], "never raised here"),
            ("an exception that is none", [line(**{**raised, "class": None}).decode() + "\n"], "class is not what it should be"),
        ]
        for name, parts, expected in rows:
            with self.subTest(name):
                session, lab = self.fake(READY, None, LOADED, None, *parts)
                with self.assertRaisesRegex(Lost, expected.replace("(", r"\(").replace(")", r"\)")):
                    lab.f(lambda *_, **__: 1)
                with self.assertRaises(Lost) as caught:  # the next row of the same test: the same reason, and no new worker
                    lab.f()
                self.assertEqual(str(caught.exception), str(session.lost))
                self.assertIsNone(session.worker)
                session.end()

    def test_a_function_that_was_not_given_is_not_called(self):
        ask, returned = line(kind="ask", number=7, args=[], kwargs={}).decode() + "\n", line(kind="returned", value=1).decode() + "\n"
        _, lab = self.fake(READY, None, LOADED, None, ask, None, returned)
        called = []
        self.assertEqual((lab.f(lambda: called.append(1)), called), (1, []))

    def test_a_line_that_was_sent_before_is_not_an_answer_to_calls_that_are_sent_ahead(self):
        returned = line(kind="returned", value=1).decode() + "\n"
        session, lab = self.fake(READY, None, LOADED, None, returned * 2, None, returned * 2)
        self.assertEqual(lab.f(), 1)
        session.begin()
        with self.assertRaisesRegex(Lost, "before it was asked"):
            lab.f.ahead(partial(lab.f, text) for text in "ab")

    def test_a_worker_that_does_not_load_is_lost_once(self):
        wrong_names = line(kind="loaded", functions=[1], errors=[]).decode() + "\n"
        rows = [([], "ended by itself"), ([READY, None, wrong_names], "names that are not texts"), (["Welcome!\n"], "Welcome")]
        for errors in ({}, {"errors": None}, {"errors": {}}, {"errors": [None]}):
            rows.append(([READY, None, line(kind="loaded", functions=[], **errors).decode() + "\n"], "loaded: |names that are not texts"))
        for parts, expected in rows:
            with self.subTest(expected, parts=parts):
                session, lab = self.fake(*parts)
                for _ in range(2):
                    session.begin()
                    with self.assertRaisesRegex(Lost, expected):
                        lab.f()
                self.assertIsNone(session.worker)
                session.end()

    def test_a_worker_that_never_reads_costs_the_limit_once(self):
        session, lab = self.session("import time\ndef f(x): time.sleep(99)\n", seconds=0.5)
        lab.f  # it is loaded
        for _ in range(3):
            with self.assertRaisesRegex(Lost, "ran longer than 0.5 s"):
                lab.f("x" * 3_000_000)
            self.assertIsNone(session.worker)  # it was ended at the limit, and no other one is started in this test

    def test_a_later_load_that_fails_slowly_costs_the_limit_once_in_a_test(self):
        text = "import os, time\nMARK = %r\nif os.path.exists(MARK): time.sleep(99)\nopen(MARK, 'w').close()\ndef f(): os._exit(3)\n"
        session, lab = self.session(text % str(self.folder / "mark"), seconds=0.5)
        with self.assertRaisesRegex(Lost, "exit code 3"):
            lab.f()
        for _ in range(2):
            session.begin()
            started = time.monotonic()
            for _ in range(20):
                with self.assertRaisesRegex(Lost, "did not load within 0.5 s"):
                    lab.f()
            self.assertLess(time.monotonic() - started, 5.0)
        self.assertIsNone(session.load_failure)

    def test_a_load_that_ends_in_the_grader_ends_that_worker_and_says_why(self):
        for raised, expected in ((MemoryError(), "the worker did not start: the grader has no memory left"), (KeyboardInterrupt(), "")):
            session, lab = self.session("def f(): return 1\n")
            with self.subTest(raised), mock.patch.object(Conversation, "load", side_effect=raised):
                with self.assertRaisesRegex(Lost if expected else KeyboardInterrupt, expected):
                    lab.f()
            self.assertIsNone(session.worker)
            session.load_failure = session.lost = None
            self.assertEqual(lab.f(), 1)

    def test_what_a_worker_sends_in_one_test_is_bounded_by_the_memory_that_it_takes(self):
        """The tests keep what they are asked. Many small items take more memory than one text of the same length."""
        for value in ("x" * 1_000_000, "[0] * 300_000", "[[]] * 200_000", "{str(n): n for n in range(60_000)}"):
            session, lab = self.session(f"def f(ask):\n    while True: ask({value})\n" if "*" in value or "{" in value else f"def f(ask):\n    while True: ask('x' * 1_000_000)\n")
            kept = []
            tracemalloc.start()
            with self.subTest(value[:20]), self.assertRaisesRegex(Lost, "more than 8,388,608 bytes in one test"):
                lab.f(kept.append)
            self.assertLess(tracemalloc.get_traced_memory()[1], 64 << 20)
            tracemalloc.stop()
            session.end()

    def test_a_command_that_is_none_is_said(self):
        session, lab = self.session("# nothing\n", prefix="no-such-command-here --flag")
        with self.assertRaisesRegex(Lost, "the worker did not start: no-such-command-here: "):
            lab.f()


ECHO = """
def echo(*args, **kwargs): return args[0] if args else kwargs
def shown(value): return ascii(value)
def apply(function, *args, **kwargs): return function(*args, **kwargs)
def total(items): return sum(items)
def keep(function, kept=[]): kept.append(function); return kept[0]()
def chain(make): return make()()
class TriageError(Exception): pass
class ToolCallError(TriageError): pass
def fail(name, *args): raise (globals().get(name) or getattr(__import__("builtins"), name))(*args)
def swallow(function):
    try: function()
    except ConnectionError as error: return [type(error).__name__, ascii(error.args)]
LIMIT = 120
"""


class Submissions(Place):
    def setUp(self):
        super().setUp()
        self.session_, self.lab = self.session(ECHO)

    def test_values_come_back_from_the_other_end(self):
        for value in VALUES:
            with self.subTest(ascii(value)[:60]):
                self.assertEqual(typed(self.lab.echo(value)), typed(value))
                self.assertEqual(typed(self.lab.echo(value=value)), typed({"value": value}))
                self.assertEqual(typed(self.lab.apply(lambda got, value=value: value, value)), typed(value))
                if not isinstance(value, (set, frozenset)):
                    self.assertEqual(self.lab.shown(value), ascii(value))
        for name in ("nothing", "LIMIT", "_private"):  # a value of the module does not cross by itself
            with self.assertRaisesRegex(Lost, f"has no {name}"):
                getattr(self.lab, name)

    def test_callables_and_iterators_stay_here(self):
        self.assertEqual(self.lab.total(iter([1, 2, 3])), 6)
        self.assertEqual(self.lab.total(number * 2 for number in range(1000)), 999_000)
        self.assertEqual(self.lab.apply(lambda first, *, last: [first, last], 1, last=(2,)), [1, (2,)])
        self.assertEqual(self.lab.chain(lambda: lambda: "inner"), "inner")
        self.assertEqual(self.lab.keep(lambda: 1), 1)
        with self.assertRaisesRegex(RuntimeError, "an earlier call"):
            self.lab.keep(lambda: 2)

    def test_exceptions_of_callables_come_back_as_the_same_object(self):
        for error in (ConnectionError("no route"), KeyError("x"), OSError(2, "gone"), StopIteration(3), AssertionError(), MemoryError(),
                      UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd"), type("Own", (ValueError,), {})("mine")):
            def broken(*_, error=error):
                raise error

            with self.subTest(repr(error)):
                with self.assertRaises(type(error)) as caught:
                    self.lab.apply(broken)
                self.assertIs(caught.exception, error)
                if not isinstance(error, StopIteration):
                    with self.assertRaises(type(error)) as caught:
                        self.lab.total(map(broken, [1]))
                    self.assertIs(caught.exception, error)
        self.assertEqual(self.lab.swallow(lambda: (_ for _ in ()).throw(ConnectionRefusedError(111, "no"))), ["ConnectionRefusedError", "(111, 'no')"])

    def test_exceptions_of_the_submission(self):
        for name, kind in (("TriageError", self.lab.TriageError), ("ToolCallError", self.lab.TriageError), ("KeyError", KeyError), ("ValueError", ValueError)):
            with self.subTest(name), self.assertRaises(kind) as caught:
                self.lab.fail(name, "what")
            self.assertEqual(caught.exception.place, ("ticket_triage.py", 10))
        for name in ("KeyboardInterrupt", "SystemExit", "GeneratorExit", "MemoryError", "StopIteration", "BaseException"):
            with self.subTest(name), self.assertRaises(SubmissionError) as caught:
                self.lab.fail(name)
            self.assertEqual(caught.exception.name_of_class, name)

    def test_a_callback_that_ends_everything_or_calls_the_lab_leaves_a_session_that_works(self):
        def ends():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.lab.apply(ends)
        self.assertEqual(self.lab.echo(1), 1)
        with self.assertRaisesRegex(RuntimeError, "inside a callback"):
            self.lab.apply(lambda: self.lab.echo(2))
        self.assertEqual(self.lab.echo(3), 3)

    def test_a_worker_that_ends_is_replaced_for_the_next_test(self):
        session, lab = self.session("import os\ndef f(x):\n    if x: os._exit(4)\n    return os.getpid()\n")
        first = lab.f(0)
        with self.assertRaisesRegex(Lost, r"exit code 4"):
            lab.f(1)
        with self.assertRaisesRegex(Lost, r"exit code 4"):
            lab.f(0)
        session.begin()
        self.assertNotEqual(lab.f(0), first)

    def test_main_runs_in_a_folder_with_files(self):
        text = "import sys\ndef main(argv):\n    print(open(argv[0], encoding='utf-8').read())\n    print('e', file=sys.stderr)\n    {}\n"
        for last, code in (("return 3", 3), ("return None", 0), ("sys.exit(2)", 2), ("sys.exit()", 0), ("sys.exit('why')", 1), ("return True", True)):
            with self.subTest(last):
                session, lab = self.session(text.format(last))
                got = command_line(lab, ["a/b.txt"], {"a/b.txt": "żółć"}, "utf-8")
                self.assertEqual((got[0], *map(str.splitlines, got[1:])), (code, ["żółć"], ["e", "why"] if "why" in last else ["e"]))
                session.end()

    def test_main_sees_nothing_of_an_earlier_run(self):
        text = "import os\ndef main(argv):\n    print(sorted(os.path.join(a, n) for a, f, names in os.walk('.') for n in f + names))\n"
        text += "    os.makedirs('made/inside')\n    os.symlink('made', 'link')\n    open('a/more', 'w').close()\n" if os.name != "nt" else ""
        session, lab = self.session(text)
        for files in ({"a/b.txt": "1", "a/c/d": "2"}, {"a/b.txt": "1"}, {"a/made": "x"}, {"a/c": "y"}):
            printed = command_line(lab, [], files, "utf-8")[1]
            folders = {os.path.dirname(name) for name in files} | {"a"}
            self.assertEqual(printed.strip(), str(sorted(os.path.join(".", *name.split("/")) for name in {*files, *folders})))

    def test_main_runs_in_the_workers_folder_whatever_becomes_of_its_variables(self):
        session, lab = self.session("import os\nos.environ.clear()\ndef main(argv): print(os.getcwd())\n")
        printed = command_line(lab, [], {"a/b.txt": "1"}, "utf-8")[1]
        self.assertIn(os.path.realpath(session.worker.folder), os.path.realpath(printed.strip()))

    def test_output_is_kept_up_to_a_limit(self):
        session, lab = self.session("import sys\ndef f(ask):\n    for _ in range(50):\n        sys.stdout.write('x' * 50_001)\n        ask()\n")
        lab.f(lambda: None)
        kept, dropped = sum(len(text) for text, _ in session.printed), sum(count for _, count in session.printed)
        self.assertEqual((kept, kept + dropped), (protocol.OUTPUT_LIMIT, 50 * 50_001))

    def test_only_the_standard_library_can_be_imported(self):
        for name in ("numpy", "pytest", "pip"):
            session, lab = self.session(f"import {name}\n")
            with self.assertRaisesRegex(Lost, f"No module named '{name}': only the standard library"):
                lab.f()
            session.end()


class Left(Place):
    """What a submission leaves behind is gone when its worker is, and nothing else."""

    @unittest.skipUnless(hasattr(os, "symlink"), "no links here")
    def test_a_link_in_the_place_of_its_folder_is_removed_and_not_followed(self):
        kept = self.folder / "kept"
        (kept / "inner").mkdir(parents=True)
        (kept / "inner" / "file").write_text("mine", encoding="utf-8")
        replace = "import os, shutil\ndef f():\n    home = os.getcwd()\n    os.chdir('/')\n    shutil.rmtree(home)\n    os.symlink({target!r}, home)\n"
        inside = "import os\ndef f():\n    os.mkdir('0')\n    os.mkdir('1')\n    os.symlink({target!r}, '0/0')\n    os.symlink({target!r}, '2')\n    os.chmod('0', 0)\n"
        for text in (replace, inside):
            for target in (kept, kept / "inner" / "file", self.folder / "nowhere"):
                with self.subTest(text=text[20:40], target=target.name):
                    session, lab = self.session(text.format(target=str(target)))
                    lab.f()
                    home = session.worker.folder
                    session.end()
                    self.assertFalse(os.path.lexists(home))
                    self.assertEqual((kept / "inner" / "file").read_text(encoding="utf-8"), "mine")

    def test_folders_of_any_name_and_depth_go(self):
        text = "import os\ndef f():\n    for name in ('0', '1', 'a b', '\\u017c', '-rf'):\n        os.makedirs(name + '/0/1/2')\n        open(name + '/0/file', 'w').close()\n"
        text += "    for _ in range(1200):\n        os.mkdir('deep')\n        os.chdir('deep')\n"
        session, lab = self.session(text)
        lab.f()
        home = session.worker.folder
        session.end()
        self.assertFalse(os.path.lexists(home))

    @unittest.skipUnless(sys.platform == "linux", "only Linux knows all of them")
    def test_processes_that_start_processes_are_ended_with_all_of_these(self):
        """Each the child of the last, each in its own session: alive, or gone as soon as the next one has started."""
        stay = "    for _ in range(300):\n        if os.fork(): time.sleep(99)\n        os.setsid()\n    time.sleep(99)\n"
        go = "    while True:\n        if os.fork(): os._exit(0)\n        os.setsid()\n"
        for name, body, number in (("stay", stay, 1), ("go", go, 1), ("many go", go, 4)):
            text = f"import os, time\ndef f():\n    for _ in range({number}):\n        if os.fork() == 0: g()\ndef g():\n    os.setsid()\n{body}"
            with self.subTest(name):
                session, lab = self.session(text, seconds=20.0)
                lab.f()
                time.sleep(0.2)
                home = session.worker.folder
                session.end()
                self.assertEqual([number for number in map(int, filter(str.isdigit, os.listdir("/proc"))) if lives_in(number, home)], [])

    @unittest.skipUnless(sys.platform == "linux" and os.geteuid() != 0, "needs Linux, and a user who is not root")
    def test_the_number_of_processes_is_bounded(self):
        text = "import os, time\ndef f():\n    for number in range(2000):\n        try:\n            if os.fork() == 0: time.sleep(99)\n"
        text += "        except BlockingIOError:\n            return number\n"
        _, lab = self.session(text, seconds=20.0)
        self.assertLessEqual(lab.f(), 1000)


def lives_in(number, folder):
    """Return whether a process has a folder in its environment, as a worker has its own."""
    try:
        return f"TMPDIR={folder}\0".encode() in Path(f"/proc/{number}/environ").read_bytes()
    except OSError:
        return False


COUNTS = """
count = 0
def f(text):
    global count
    count += 1
    print(text)
    if text == "end": __import__("os")._exit(3)
    return count
def ask(client, *, more=0):
    return [client("first"), client("second"), more]
"""


class Ahead(Place):
    """Calls that are sent before they are made: nothing but time changes."""

    def setUp(self):
        super().setUp()
        self.session_, self.lab = self.session(COUNTS)

    def ahead(self, *texts):
        self.lab.f.ahead(partial(self.lab.f, text) for text in texts)

    def test_each_gives_what_it_gives_alone_and_is_made_once(self):
        self.ahead("a", "b", "c")
        for number, text in enumerate("abcd", start=1):
            self.assertEqual(self.lab.f(text), number)
            self.assertEqual(self.lab.f.printed, [[f"{text}\n", 0]])

    def test_they_may_ask_for_what_they_were_given(self):
        clients = [labtest.Client(1, 2), labtest.Client(3, 4)]
        self.lab.ask.ahead(partial(self.lab.ask, client, more=9) for client in clients)
        for client, expected in zip(clients, ([1, 2, 9], [3, 4, 9])):
            self.assertEqual(self.lab.ask(client, more=9), expected)
            self.assertEqual(client.seen, ["first", "second"])

    def test_a_function_of_one_call_is_not_good_for_the_next(self):
        _, lab = self.session("kept = []\ndef f(function):\n    kept.append(function)\n    return kept[0]()\n")
        functions = [lambda: 1, lambda: 2]
        lab.f.ahead(partial(lab.f, function) for function in functions)
        self.assertEqual(lab.f(functions[0]), 1)
        with self.assertRaisesRegex(RuntimeError, "an earlier call"):
            lab.f(functions[1])

    def test_another_call_in_between_gets_its_own_answer(self):
        """In a new worker, since the first one is in the middle of what was sent; so does a call that is equal and not the same."""
        texts, other = ["a", "b"], "".join(["", "b"])
        self.ahead(*texts)
        self.assertEqual([self.lab.f(text) for text in ("a", "c", "b")], [1, 1, 2])
        for args, kwargs in (([["b"]], {}), ([], {"text": "a"}), ([1], {}), ([1.0], {}), ([True], {})):
            with self.subTest(args, **kwargs):
                self.session_.begin()
                first = self.lab.f("x")
                self.lab.f.ahead([partial(self.lab.f, 1), partial(self.lab.f, other)])
                self.assertEqual(self.lab.f(*args, **kwargs), first + 1 if args == [1] and type(args[0]) is int else 1)

    def test_a_test_that_breaks_off_leaves_the_next_one_alone(self):
        self.ahead("a", "b")
        self.session_.begin()
        self.assertEqual((self.lab.f("b"), self.session_.printed), (1, [["b\n", 0]]))

    def test_what_ends_the_worker_costs_its_own_call(self):
        self.ahead("a", "end", "c")
        self.assertEqual(self.lab.f("a"), 1)
        for text in ("end", "c"):
            with self.assertRaisesRegex(Lost, "exit code 3"):
                self.lab.f(text)
        self.session_.begin()
        self.assertEqual(self.lab.f("d"), 1)

    def test_none_may_be_sent_and_none_of_another_function(self):
        self.lab.f.ahead([])
        client = labtest.Client(7, 8)
        self.lab.f.ahead([partial(self.lab.f, "a"), partial(self.lab.ask, client), partial(self.lab.f, "b")])
        self.assertEqual([self.lab.f("a"), self.lab.ask(client), self.lab.f("b")], [1, [7, 8, 0], 2])

    def test_a_new_worker_has_what_is_left_of_the_time(self):
        _, lab = self.session("import time\ndef f(x): time.sleep(0.4)\n", seconds=1.0)
        with self.assertRaisesRegex(Lost, "ran longer than 1 s"):
            for number in range(9):
                lab.f.ahead(partial(lab.f, text) for text in ("a", "b"))
                lab.f("a")
                lab.f("c")
        self.assertLessEqual(number, 2)

    def test_an_exception_is_of_the_class_that_it_was_before(self):
        _, lab = self.session("class TriageError(Exception): pass\ndef f(x): raise TriageError(x)\n")
        refusal = lab.TriageError
        lab.f.ahead(partial(lab.f, text) for text in "ab")
        for text in "cab":
            with self.assertRaisesRegex(refusal, text):
                lab.f(text)

    def test_a_call_inside_a_callback_is_refused_here_too(self):
        def inside(text):
            return self.lab.f("x")

        self.lab.ask.ahead([partial(self.lab.ask, inside), partial(self.lab.ask, inside)])
        with self.assertRaisesRegex(RuntimeError, "inside a callback"):
            self.lab.ask(inside)
        with self.assertRaisesRegex(RuntimeError, "inside a callback"):
            self.lab.ask(lambda text: self.lab.f.ahead([partial(self.lab.f, "y")]))
        self.assertEqual(self.lab.f("z"), 1)

    def test_the_tests_of_every_lab_make_what_they_announce(self):
        for lab in kit.LABS:
            wasted = []

            class Watched(Session):
                def end(self):
                    wasted.extend(self.conversation.ahead if self.conversation else [])
                    super().end()

            with self.subTest(lab), Watched(kit.KIT / "solution" / f"{lab}.py") as session:
                self.assertTrue(grade_session(session).complete)
            self.assertEqual(wasted, [])


if __name__ == "__main__":
    unittest.main()
