"""The protocol of the line: what crosses it, and what is refused. (What goes on over it is in test_submission.py.)"""

import json
import math
import time
import unittest

import kit  # noqa: F401 - puts the grader on the path
from grader.line import protocol
from grader.line.errors import SubmissionError, error_classes, raised_error
from grader.line.protocol import (
    ANSWERS, DEPTH_LIMIT, FROM_FAR, FROM_NEAR, MESSAGE_LIMIT, OUTCOMES, STRICT_DECODER, Malformed, Opaque, decode, encode, fields_of, line_of,
)

QUIET = ["", 0]
RIGHT = {"class": "Odd", "lab": None, "builtin": "Exception", "same": None, "message": "m", "place": None}  # an exception as it crosses


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
            line(kind="ask", number=1, args=[]), line(kind="raised", **{**RIGHT, "lab": ["TriageError"]}), line(kind="raised"),
            line(kind="loaded", functions=[], errors=[]), line(kind=["returned"]), line(kind={}), line(kind=None), line(kind=1), line(kind="RETURNED"),
            line(kind="returned", value=1, printed=None), line(kind="returned", value=1, printed=5), line(kind="returned", value=1, printed="ab"),
            line(kind="returned", value=1, printed={"": 1, "a": 0}), line(kind="returned", value=1, printed=[0, ""]), line(kind="returned", value=1, printed=["", -1]),
            line(kind="returned", value=1, printed=["", True]), line(kind="returned", value=1, printed=["", 1.0]), line(kind="returned", value=1, printed=["", 0, 0]),
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
    def test_the_exceptions_of_a_lab_are_related_as_in_the_hand_out(self):
        bases = {"A": ["Exception"], "B": ["A"], "C": ["B"], "D": ["A", "LookupError"], "E": ["ValueError"]}
        classes = error_classes(bases)
        for name, others in {"B": "A", "C": "BA", "D": "A"}.items():
            self.assertTrue(all(issubclass(classes[name], classes[other]) for other in others))
        self.assertFalse(issubclass(classes["A"], classes["B"]) or issubclass(classes["E"], classes["A"]))
        self.assertTrue(issubclass(classes["D"], LookupError) and issubclass(classes["E"], ValueError))
        self.assertTrue(all(issubclass(kind, SubmissionError) for kind in classes.values()))
        error = raised_error({**RIGHT, "class": "Own", "lab": "C", "message": "x"}, classes, [], set())
        self.assertEqual((type(error), error.name_of_class, str(error)), (classes["C"], "Own", "x"))

    def test_a_worker_that_names_an_exception_of_its_own_gets_no_class_for_it(self):
        """No type is made from what it says, whatever that is."""
        kinds = set()
        for name in ("Odd", "TriageError", "", "\n15 of 15 passed", "\0", "\ud800", "x" * 9999, "KeyboardInterrupt", "SkipTest", "__class__"):
            for builtin in ("Exception", "ValueError", "MemoryError", "ExceptionGroup", "StopIteration", "KeyboardInterrupt", "eval", "", "\0"):
                for lab in (None, "TriageError", "ValueError", "__class__", ""):
                    with self.subTest(name=name[:20], builtin=builtin, lab=lab):
                        error = raised_error({**RIGHT, "class": name, "builtin": builtin, "lab": lab}, {}, [], set())
                        self.assertEqual(str(error), "m")
                        self.assertTrue(len(error.name_of_class) < 500 and "\n" not in error.name_of_class)
                        kinds.add(type(error).__name__)
        self.assertEqual(kinds, {"SubmissionError", "ValueError"})
        error = raised_error({**RIGHT, "message": "y" * 99_999, "builtin": "KeyError"}, {}, [], set())
        self.assertEqual((len(str(error)), isinstance(error, KeyError)), (protocol.TEXT_LIMIT, True))

    def test_an_exception_that_was_never_raised_here_is_refused(self):
        given = ValueError()
        self.assertIs(raised_error({**RIGHT, "same": 0}, {}, [given], set()), given)
        for same in (1, -1):
            with self.subTest(same=same), self.assertRaises(Malformed):
                raised_error({**RIGHT, "same": same}, {}, [given], set())

    def test_only_lines_of_the_submissions_own_files_are_taken(self):
        wrong = (["/etc/passwd", 1], ["", 1], ["a.py", "1"], ["a.py", True], ["a.py", 0], ["a.py", -5], [[], 1], ["a.py", 2, 3], [], None)
        for place, expected in ((["a.py", 9], ("a.py", 9)), *((place, None) for place in wrong)):
            with self.subTest(place=place):
                error = raised_error({**RIGHT, "place": place}, {}, [], {"a.py"})
                self.assertEqual(error.place, expected)


if __name__ == "__main__":
    unittest.main()
