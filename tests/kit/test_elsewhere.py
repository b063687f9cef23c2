"""Where a worker can run: --exec puts any command before the interpreter, and the verdict is the same in every place."""

import os
import shlex
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

import kit
from test_submission import Place

from grader.grading import grade
from grader.line.errors import Lost
from grader.line.process import Limits

SOLUTION = kit.KIT / "solution" / "ticket_triage.py"
UNSHARE = "unshare -r -n --pid --fork --kill-child"
BWRAP = "bwrap --ro-bind / / --tmpfs /tmp --tmpfs /root --proc /proc --dev /dev --unshare-all --die-with-parent"


def other_places():
    """Return {name: (prefix, interpreter)} of what may be on this machine."""
    python = os.path.realpath(sys.executable)
    places = {
        "nothing in between": ("", python),
        "env -i": ("env -i", python),
        "nice": ("nice -n 5", python),
        "timeout": ("timeout 300", python),
        "no network, own process numbers": (UNSHARE, python),
        "bubblewrap": (f"{BWRAP} --ro-bind {sys.prefix} {sys.prefix}", python),
        "docker": ("docker run --rm -i --init --network none --memory 512m --pids-limit 64 python:3.13-slim timeout 300", "python3"),
    }
    for minor in range(9, 15):  # a version manager keeps them side by side; its own command may be none that runs
        beside = sorted(Path(sys.base_prefix).parent.glob(f"3.{minor}.*/bin/python3.{minor}"))
        places[f"Python 3.{minor}"] = ("", str(beside[-1]) if beside else shutil.which(f"python3.{minor}") or f"python3.{minor}")
    return places


LATE = """import subprocess, sys, time
worker = subprocess.Popen(sys.argv[1:], stdin=sys.stdin, stdout=subprocess.PIPE)
for line in worker.stdout:
    time.sleep(0.06)
    sys.stdout.buffer.write(line)
    sys.stdout.flush()
"""  # a client that passes the lines on


class Elsewhere(Place):
    def skip_unless_it_works(self, prefix, python=sys.executable):
        """Skip with the reason why the bare command does not work here."""
        words = [*shlex.split(prefix), python, "--version"]
        try:
            done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise unittest.SkipTest(f"{prefix or python}: {error}") from error
        if not done.stdout.startswith("Python 3."):
            raise unittest.SkipTest(f"{prefix or python}: {(done.stderr.strip() or done.stdout.strip() or 'no output').splitlines()[-1]}")

    def test_the_verdict_is_the_same_wherever_the_worker_runs(self):
        graded = set()
        for name, (prefix, python) in other_places().items():
            with self.subTest(place=name):
                self.skip_unless_it_works(prefix, python)
                report = grade(SOLUTION, Limits(30.0, prefix=prefix, python=python))
                self.assertEqual((report.passed, len(report.marks)), (15, 15), [mark.failures for mark in report.marks])
                graded.add(name)
        self.assertIn("nothing in between", graded)
        if os.name == "posix":
            self.assertLessEqual({"env -i", "nice"}, graded)

    def test_a_prefix_is_really_another_place(self):
        self.skip_unless_it_works("env -i")
        os.environ["KIT_MARKER"] = "seen"
        self.addCleanup(os.environ.pop, "KIT_MARKER")
        for prefix, expected in (("env -i", None), ("env", "seen"), ("", None)):
            with self.subTest(prefix=prefix):
                session, lab = self.session("import os\ndef f(): return os.environ.get('KIT_MARKER')\n", prefix=prefix, python=sys.executable)
                self.assertEqual(lab.f(), expected)
                session.end()

    def test_without_a_network_and_among_its_own_processes(self):
        self.skip_unless_it_works(UNSHARE)
        text = "import os, socket\ndef f():\n    try: socket.create_connection(('127.0.0.1', 9), 1)\n    except OSError as e: return [os.getpid(), e.errno]\n"
        session, lab = self.session(text, prefix=UNSHARE, python=sys.executable)
        number, error = lab.f()
        self.assertEqual((number, error), (1, 101))  # the first process there; the network is unreachable

    @unittest.skipUnless(shutil.which("sh"), "no sh here")
    def test_a_place_that_starts_slowly_takes_none_of_the_submissions_time(self):
        session, lab = self.session("def f(): return 1\n", seconds=1.0, prefix="""sh -c 'sleep 1.5; exec "$@"' sh""", python=sys.executable)
        session.begin()
        self.assertEqual(lab.f(), 1)

    def test_the_way_to_another_place_takes_none_of_the_submissions_time(self):
        """Each line is late by 60 ms, as through a busy client. Forty questions of a client are still no 2 s of the submission's."""
        far = self.folder / "far.py"
        far.write_text(LATE, encoding="utf-8")
        prefix = f"{sys.executable} {far}"
        session, lab = self.session("def f(client): return [client() for _ in range(40)]\n", seconds=2.0, prefix=prefix, python=sys.executable)
        session.begin()
        began = time.monotonic()
        self.assertEqual(lab.f(lambda: 1), [1] * 40)
        self.assertGreater(time.monotonic() - began, 2.0)
        session.end()
        for text in ("def f(client):\n    while True: pass\n", "import time\ndef f(client): time.sleep(60)\n"):
            session, lab = self.session(text, seconds=1.0, prefix=prefix, python=sys.executable)
            session.begin()
            with self.assertRaisesRegex(Lost, "it ran longer than 1 s"):
                lab.f(lambda: 1)
            session.end()

    def test_a_shell_on_the_other_side_of_ssh_takes_the_words_as_they_are(self):
        fake = self.folder / "ssh"
        fake.write_text('#!/bin/sh\nshift\nexec env -i sh -c "$*"\n', encoding="utf-8")  # sshd gives the words to a shell as one text
        fake.chmod(0o755)
        self.skip_unless_it_works(f"{fake} host")
        report = grade(SOLUTION, Limits(30.0, prefix=f"{fake} host", python=sys.executable))
        self.assertEqual(report.passed, 15)

    def test_what_is_given_to_ssh_is_quoted_once_more(self):
        command = Limits(prefix="timeout 9 ssh -T host").command(7)
        self.assertEqual(shlex.split(" ".join(command[5:])), Limits(prefix="nice").command(7)[1:])
        self.assertEqual(Limits(prefix="docker run 'a b'").command(7)[:3], ["docker", "run", "a b"])


if __name__ == "__main__":
    unittest.main()
