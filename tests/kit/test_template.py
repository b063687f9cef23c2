"""Workers that are copies of a template: the same as those that are started, and no danger when the template is gone."""

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
from grader.line.errors import Lost
from grader.line.process import Limits, Workers

SOLUTION = kit.KIT / "solution" / "ticket_triage.py"
SEEN = """
import os, signal, sys, resource, threading
def seen():
    limits = [resource.getrlimit(getattr(resource, name)) for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE")]
    folder = os.getcwd()
    variables = {name: value.replace(folder, "FOLDER") for name, value in os.environ.items() if name != "LC_CTYPE"}
    depth = len([frame for frame in iter_frames(sys._getframe())])
    return [variables, os.listdir(folder), limits, [number for number in range(400) if is_open(number)], sys.argv, sys.flags[:], sys.path, depth,
            os.getpid() == os.getpgid(0) == os.getsid(0), sys.stdin.read(), threading.active_count(), sorted(name for name in sys.modules if "." in name and "._" not in name), signal.getsignal(signal.SIGINT).__name__, "gc" in sys.modules]
def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
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
        before = set(children())
        self.workers = self.with_template()
        self.addCleanup(lambda: self.assertEqual(set(children()), before))
        self.addCleanup(lambda: self.workers.drop_template())

    def with_template(self, **limits):
        """Return Workers that are copies, where there can be some."""
        workers = Workers(Limits(**limits))
        workers.use_template()
        return workers

    def session(self, text, **limits):
        return super().session(text, self.workers, **limits)

    def test_a_copy_is_placed_as_a_worker_that_was_started(self):
        seen = []
        self.workers.drop_template()
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN))  # as in a pool
        self.workers.use_template()
        for _ in range(2):
            _, lab = self.session(SEEN)
            seen.append(lab.seen())
            self.workers.drop_template()
        copied, started = seen
        self.assertEqual(copied[:-1], started[:-1])

    def test_each_session_has_a_copy_of_its_own_and_none_is_left(self):
        before, numbers = set(children()), set()
        for _ in range(3):
            session, lab = self.session(SEEN)
            numbers.add(lab.number())
            self.assertEqual(lab.parent(), os.getpid())
            session.end()
            self.assertEqual(set(children()), before)
        self.assertEqual(len(numbers), 3)
        self.assertNotIn(self.workers.template.process.pid, numbers)

    def test_how_a_copy_ends_is_told(self):
        for how, told in ((0, "exit code 0"), (7, "exit code 7"), (-signal.SIGKILL, "signal 9"), (-signal.SIGSEGV, "signal 11")):
            session, lab = self.session(SEEN)
            with self.subTest(told), self.assertRaisesRegex(Lost, rf"ended by itself \({told}\)"):
                lab.end(how)
            session.end()

    def test_a_loop_is_ended_at_the_limit_and_its_line_is_told(self):
        _, lab = self.session(SEEN, seconds=2.0)
        with self.assertRaisesRegex(Lost, "ran longer than 2 s") as caught:
            lab.loop()
        self.assertEqual(caught.exception.place[0], "ticket_triage.py")

    def test_without_its_template_a_worker_is_started(self):
        """Killed, or stopped so that it answers nobody: that costs one wait, and no grade."""
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(number):
                self.workers.template.line.settimeout(1.0)
                os.kill(self.workers.template.process.pid, number)
                time.sleep(0.1)
                self.assertTrue(grade(SOLUTION, Limits(30.0), workers=self.workers).complete)
                self.assertIsNone(self.workers.template)
                self.workers.use_template()
        self.assertTrue(grade(SOLUTION, Limits(30.0), workers=self.workers).complete)
        self.assertIsNotNone(self.workers.template)

    def test_it_ends_with_the_grader_even_when_it_was_stopped(self):
        code = (
            "import os, signal\nfrom grader.line.process import Workers\nfrom grader.line.session import Session\n"
            "workers = Workers()\nworkers.use_template()\nwith Session(SOLUTION, workers=workers) as session: session.ready()\n"
            "os.kill(workers.template.process.pid, signal.SIGSTOP)\nprint(workers.template.process.pid)\n"
        )
        done = kit.run("-c", code.replace("SOLUTION", repr(str(SOLUTION))), cwd=kit.KIT / "tests")
        self.assertEqual(done.stderr, "")
        deadline = time.monotonic() + 10
        while Path("/proc", done.stdout.strip(), "cwd").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(Path("/proc", done.stdout.strip(), "cwd").exists())
        with contextlib.suppress(ChildProcessError):  # where it came to this process, which takes over what is left
            os.waitpid(int(done.stdout), 0)

    def test_another_interpreter_or_place_is_its_own_matter(self):
        self.assertIsNone(self.with_template(prefix="nice").template)
        self.assertIsNone(self.with_template(python="/no/such/python").template)
        workers = self.with_template(python="/bin/true")  # it starts, and is not a Python
        with self.assertRaises(Lost):
            super().session(SEEN, workers)[1].number()
        self.assertIsNone(workers.template)


if __name__ == "__main__":
    unittest.main()
