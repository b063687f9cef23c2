"""Workers that are copies of a template: the same as those that are started, and no danger when the template is gone."""

import ast
import contextlib
import os
import signal
import sys
import time
import unittest
from pathlib import Path

import kit
from test_submission import Place

from grader.grading import grade
from grader.line.processes import children
from grader.intake.sources import Lost
from grader.line.session import Limits, Session, use_template
from grader.line.worker import PRELOADED

SOLUTION = kit.KIT / "solution" / "ticket_triage.py"
SEEN = """
import os, signal, sys, resource, threading
def seen():
    limits = [resource.getrlimit(getattr(resource, name)) for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE")]
    folder = os.getcwd()
    variables = {name: value.replace(folder, "FOLDER") for name, value in os.environ.items() if name != "LC_CTYPE"}
    depth = len([frame for frame in iter_frames(sys._getframe())])
    return [variables, os.listdir(folder), limits, sorted(os.listdir("/proc/self/fd"))[:-1], sys.argv, sys.flags[:], sys.path, depth,
            os.getpid() == os.getpgid(0) == os.getsid(0), sys.stdin.read(), threading.active_count(), sorted(name for name in sys.modules if "." in name and "._" not in name), signal.getsignal(signal.SIGINT).__name__, "gc" in sys.modules]
def iter_frames(frame):
    while frame:
        yield frame
        frame = frame.f_back
def number(): return os.getpid()
def parent(): return os.getppid()
def end(how): os._exit(how) if how >= 0 else os.kill(os.getpid(), -how)
def loop():
    while True:
        pass
"""


@unittest.skipUnless(sys.platform == "linux", "only Linux has templates")
class Templates(Place):
    def setUp(self):
        super().setUp()
        before = children()
        use_template(Limits())
        self.addCleanup(lambda: self.assertEqual(children(), before))
        self.addCleanup(self.drop_template)

    def drop_template(self):
        if Session.template is not None:
            Session.template.end()
            Session.template = None

    def test_a_copy_is_placed_as_a_worker_that_was_started(self):
        seen = []
        self.drop_template()
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN))  # as in a pool
        use_template(Limits())
        for _ in range(2):
            _, lab = self.session(SEEN)
            seen.append(lab.seen())
            self.drop_template()
        copied, started = seen
        self.assertEqual(copied[:-1], started[:-1])

    def test_it_has_imported_what_a_worker_imports(self):
        """Or each copy does it again."""
        imported = {}
        for name in ("copier", "worker"):
            nodes = ast.walk(ast.parse((kit.KIT / "tests" / "grader" / "line" / f"{name}.py").read_text(encoding="utf-8")))
            imported[name] = set()
            for node in nodes:
                imported[name] |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
                imported[name] |= {node.module} if isinstance(node, ast.ImportFrom) else set()
        for name in imported["worker"] - imported["copier"]:
            self.assertIn(name, ("_thread", "resource", "importlib.machinery"), "built in, or quick")
        self.assertEqual(set(PRELOADED) - imported["copier"], set())

    def test_each_session_has_a_copy_of_its_own_and_none_is_left(self):
        before, numbers = children(), set()
        for _ in range(3):
            session, lab = self.session(SEEN)
            numbers.add(lab.number())
            self.assertEqual(lab.parent(), os.getpid())
            session.end()
            self.assertEqual(children(), before)
        self.assertEqual(len(numbers), 3)
        self.assertNotIn(Session.template.process.pid, numbers)

    def test_how_a_copy_ends_is_told(self):
        for how, told in ((0, "exit code 0"), (7, "exit code 7"), (-signal.SIGKILL, "signal 9"), (-signal.SIGSEGV, "signal 11")):
            session, lab = self.session(SEEN)
            with self.subTest(told), self.assertRaisesRegex(Lost, rf"ended by itself \({told}\)"):
                lab.end(how)
            session.end()

    def test_a_loop_is_ended_at_the_limit_and_its_line_is_told(self):
        _, lab = self.session(SEEN, seconds=0.5)
        with self.assertRaisesRegex(Lost, "ran longer than 0.5 s") as caught:
            lab.loop()
        self.assertEqual(caught.exception.place[0], "ticket_triage.py")

    def test_without_its_template_a_worker_is_started(self):
        """Killed, or stopped so that it answers nobody: that costs one wait, and no grade."""
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(number):
                Session.template.line.settimeout(1.0)
                os.kill(Session.template.process.pid, number)
                time.sleep(0.1)
                self.assertTrue(grade(SOLUTION, Limits(30.0)).complete)
                self.assertIsNone(Session.template)
                use_template(Limits())
        self.assertTrue(grade(SOLUTION, Limits(30.0)).complete)
        self.assertIsNotNone(Session.template)

    def test_it_ends_with_the_grader_even_when_it_was_stopped(self):
        code = "import os, signal\nfrom grader.line import session as submission\nsubmission.use_template(submission.Limits())\nwith submission.Session(SOLUTION) as session: session.ready()\n"
        code += "number = submission.Session.template.process.pid\nos.kill(number, signal.SIGSTOP)\nprint(number)\n"
        done = kit.run("-c", code.replace("SOLUTION", repr(str(SOLUTION))), cwd=kit.KIT / "tests")
        self.assertEqual(done.stderr, "")
        deadline = time.monotonic() + 10
        while Path("/proc", done.stdout.strip(), "cwd").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(Path("/proc", done.stdout.strip(), "cwd").exists())
        with contextlib.suppress(ChildProcessError):  # where it came to this process, which takes over what is left
            os.waitpid(int(done.stdout), 0)

    def test_another_interpreter_or_place_is_its_own_matter(self):
        self.drop_template()
        use_template(Limits(prefix="nice"))
        self.assertIsNone(Session.template)
        use_template(Limits(python="/no/such/python"))
        self.assertIsNone(Session.template)
        use_template(Limits())
        self.assertTrue(grade(SOLUTION, Limits(30.0, prefix="env")).complete)
        self.assertIsNotNone(Session.template)  # it was of no use there
        self.drop_template()
        use_template(Limits(python="/bin/true"))  # it starts, and is no Python
        with self.assertRaises(Lost):
            self.session(SEEN, python="/bin/true")[1].number()
        self.assertIsNone(Session.template)


if __name__ == "__main__":
    unittest.main()
