"""What a submission leaves behind, and calls that are sent before they are made."""

import marshal
import os
import sys
import time
import types
import unittest
from functools import partial
from pathlib import Path

import kit
import labtest
from grader.grading import grade_session
from grader.line.errors import Lost
from grader.line.process import Limits
from grader.line.session import Session, command_line
from test_submission import Place


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
                    session, lab = self.session(
                        text.format(target=str(target)), sandbox=False
                    )  # closed in, it cannot do the first
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
        stay = (
            "    for _ in range(300):\n        if os.fork(): time.sleep(99)\n        os.setsid()\n    time.sleep(99)\n"
        )
        go = "    while True:\n        if os.fork(): os._exit(0)\n        os.setsid()\n"
        for name, body, number in (("stay", stay, 1), ("go", go, 1), ("many go", go, 4)):
            text = f"import os, time\ndef f():\n    for _ in range({number}):\n        if os.fork() == 0: g()\ndef g():\n    os.setsid()\n{body}"
            with self.subTest(name):
                session, lab = self.session(text, seconds=20.0)
                lab.f()
                time.sleep(0.2)
                home = session.worker.folder
                session.end()
                self.assertEqual(
                    [
                        number
                        for number in map(int, filter(str.isdigit, os.listdir("/proc")))
                        if lives_in(number, home)
                    ],
                    [],
                )

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

    def test_a_client_plays_and_hears_the_same_when_its_replies_go_along(self):
        text = "def f(client, *calls):\n    heard = []\n    for args, kwargs in calls:\n"
        text += "        try: heard.append(client(*args, **kwargs))\n        except Exception as error: heard.append(type(error).__name__)\n"
        text += "    return heard\n"
        _, lab = self.session(text)
        here = {}
        exec(text, here)
        one, two = ([["a"]], {}), ([["b"]], {})
        for name, replies, calls in (
            ("as many as there are", ["x", "y"], [one, two]),
            ("one too many", ["x"], [one, two, one]),
            ("by its name", ["x", "y", "z"], [one, ([], {"messages": ["b"]}), one]),
            ("with too few arguments and too many", ["x", "y"], [([], {}), one, ([1, 2], {}), two]),
            ("an exception in the middle", ["x", ValueError("y"), "z"], [one, two, one]),
            ("what is not a text in the middle", ["x", None, ["z"], "z"], [one, two, one, two]),
            ("none", [], [one]),
        ):
            for shared in (False, True):
                with self.subTest(name, shared=shared):
                    both = []
                    for f in (lab.f, here["f"]):
                        first = labtest.Client(*replies, *replies)
                        clients = [first, first if shared else labtest.Client(*replies)]
                        if f is lab.f:
                            f.ahead([partial(f, client, *calls) for client in clients])
                        both.append([[f(client, *calls), client.seen[:]] for client in clients])
                    self.assertEqual(*both)

    def test_a_function_of_one_call_is_not_good_for_the_next(self):
        _, lab = self.session("kept = []\ndef f(function):\n    kept.append(function)\n    return kept[0]()\n")
        functions = [lambda: 1, lambda: 2]
        lab.f.ahead(partial(lab.f, function) for function in functions)
        self.assertEqual(lab.f(functions[0]), 1)
        with self.assertRaisesRegex(RuntimeError, "an earlier call"):
            lab.f(functions[1])

    def test_another_call_in_between_gets_its_own_answer(self):
        """In a new worker, since the first is in the middle of what was sent; so does a call that is only equal."""
        texts, other = ["a", "b"], "".join(["", "b"])
        self.ahead(*texts)
        self.assertEqual([self.lab.f(text) for text in ("a", "c", "b")], [1, 1, 2])
        for args, kwargs in (([["b"]], {}), ([], {"text": "a"}), ([1], {}), ([1.0], {}), ([True], {})):
            with self.subTest(args, **kwargs):
                self.session_.begin()
                first = self.lab.f("x")
                self.lab.f.ahead([partial(self.lab.f, 1), partial(self.lab.f, other)])
                self.assertEqual(self.lab.f(*args, **kwargs), first + 1 if args == [1] and type(args[0]) is int else 1)

    def test_main_and_another_table_in_between_get_their_own_answers(self):
        session, lab = self.session(COUNTS + "def main(argv): print(f('m'))\n")
        for _ in range(3):
            lab.f.ahead([partial(lab.f, "a"), partial(lab.f, "b")])
            self.assertEqual(lab.f("a"), 1)
            self.assertEqual(command_line(lab, [], {}, "utf-8")[:2], (0, "m\n1\n"))
            lab.ask.ahead([partial(lab.ask, client) for client in [labtest.Client(1, 2)] * 2])
            lab.f.ahead([partial(lab.f, "c")])
            self.assertEqual(lab.f("c"), 1)
            session.end()

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


class Source(unittest.TestCase):
    def test_it_is_compiled_for_this_python_and_text_for_any_other(self):
        for name, limits, kind in (
            ("here", Limits(), types.CodeType),
            ("another Python", Limits(python="python3.10"), str),
            ("elsewhere", Limits(prefix="nice"), str),
            ("elsewhere, where this one lies at the same place", Limits(prefix="ssh HOST", python=sys.executable), str),
        ):
            with self.subTest(name):
                _, _, parts = marshal.loads(limits.source())
                self.assertEqual({type(code) for _, code in parts}, {kind})


if __name__ == "__main__":
    unittest.main()
