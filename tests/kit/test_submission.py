"""A submission in a process of its own: sessions, what comes back from the other end, and what becomes of a worker."""

import json
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
from grader.grading import failure_of
from grader.line import process, protocol
from grader.line.channel import ThreadedChannel
from grader.line.conversation import Conversation
from grader.line.errors import Lost, SubmissionError
from grader.line.process import Limits
from grader.line.protocol import MESSAGE_LIMIT
from grader.line.session import RemoteModule, Session, command_line
from test_protocol import RIGHT, VALUES, line, typed


class Place(unittest.TestCase):
    """A folder for a test, and sessions in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for lab in kit.LABS:  # grading puts a stand-in in the place of the lab
            self.addCleanup(sys.modules.__setitem__, lab, kit.imported(lab))

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
READY, LOADED = (line(**fields).decode() + "\n" for fields in ({"kind": "ready", "closed_in": [], "why_not": ""}, {"kind": "loaded", "functions": ["f"], "errors": ["TriageError"]}))


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
        raised = {"kind": "raised", **RIGHT}
        rows = [
            ("not JSON", ["hello\n"], "hello"),
            ("another kind", [line(kind="loaded").decode() + "\n"], "another kind"),
            ("no value", [line(kind="returned", value={"$x": 1}).decode() + "\n"], "neither a text nor a list"),
            ("too long", ["x" * (MESSAGE_LIMIT + 70_000)], "a line of more than"),
            ("half a line", ['{"kind": "returned"'], "ended by itself (exit code 0)"),
            ("nothing", [], "ended by itself (exit code 0)"),
            ("a number that is true", [line(**{**ask, "number": True}).decode() + "\n"], "number is not what it should be"),
            ("no reply has gone along", [line(**{**ask, "kind": "asked", "args": [1]}).decode() + "\n"], "it has not got"),
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

    def test_a_reply_that_went_along_counts_in_its_turn_only(self):
        ask, asked = ({"kind": kind, "number": 0, "args": [1], "kwargs": {}} for kind in ("ask", "asked"))
        for name, first, second, expected in (
            ("out of turn", ask, asked, "out of turn"),
            ("more than went along", asked, {**asked, "args": []}, "it has not got"),
            ("with other arguments", {**asked, "kwargs": {"a": 1}}, asked, "it has not got"),
        ):
            with self.subTest(name):
                parts = [line(**first).decode() + "\n", *([None] if first is ask else []), line(**second).decode() + "\n"]
                session, lab = self.fake(READY, None, LOADED, None, *parts)
                with self.assertRaisesRegex(Lost, expected):
                    lab.f(labtest.Client("a", "b"))
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
        session, lab = self.session(text % str(self.folder / "mark"), seconds=0.5, sandbox=False)
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


class SessionsOverThreads(Sessions):
    """The same with the pipes as Windows needs them."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.object(process, "channel_to", ThreadedChannel)
        patch.start()
        self.addCleanup(patch.stop)


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

    def test_a_failure_names_an_exception_as_the_submission_does(self):
        """Where a test expects none, too: not the class that stands for it here."""
        _, lab = self.session("import json\nclass Own(KeyError): pass\ndef divide(): 1 / 0\ndef read(): json.loads('{')\ndef own(): raise Own\n")
        for call, kind, name in ((lab.divide, SubmissionError, "ZeroDivisionError"), (lab.read, ValueError, "JSONDecodeError"), (lab.own, KeyError, "Own")):
            with self.subTest(name), self.assertRaises(kind) as caught:
                call()
            self.assertEqual(failure_of(caught.exception, {}).reason.partition(":")[0], name)

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


if __name__ == "__main__":
    unittest.main()
