"""What the tests of the provided eval harness share: suites that are made in a folder, agents as scripts, and runs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from kit import KIT, run

import eval_harness as lab

SUITE = KIT / "scenario" / "eval_harness"
PROGRAM = KIT / "solution" / "eval_harness.py"
CHECK = "import a\nif a.VALUE != 2:\n    raise SystemExit(f'VALUE is {a.VALUE}')\n"


def python(script):
    """Return the words of a verifier's command that runs a script."""
    return {"name": "shell_exit_zero", "args": {"argv": ["{python}", script], "timeout_seconds": 20}}


def make_task(folder, task_id, *, buggy=None, expected=None, **fields):
    """Write a task whose fix is VALUE = 2 in a.py, with some things changed; a field None is left out."""
    task = {
        "id": task_id,
        "goal": "VALUE should be 2 — für alle",
        "setup": {"dir": "buggy"},
        "editable": ["a.py"],
        "verifier": python("check.py"),
    }
    task = {name: value for name, value in {**task, **fields}.items() if value is not None}
    place = Path(folder, "tasks", task_id)
    trees = {
        "buggy": {"a.py": "VALUE = 1\n", "check.py": CHECK} if buggy is None else buggy,
        "expected": {"a.py": "VALUE = 2\n"} if expected is None else expected,
    }
    for name, files in trees.items():
        (place / name).mkdir(parents=True)
        for path, text in files.items():
            (place / name / path).parent.mkdir(parents=True, exist_ok=True)
            (place / name / path).write_bytes(text.encode("utf-8"))
    (place / "task.json").write_text(json.dumps(task), encoding="utf-8")


def make_suite(folder, ids=("one",), **fields):
    """Write a suite of such tasks; return its folder."""
    for task_id in ids:
        make_task(folder, task_id, **fields)
    Path(folder, "suite.json").write_text(json.dumps({"tasks": list(ids)}), encoding="utf-8")
    return Path(folder)


class HarnessTest(unittest.TestCase):
    """Tests in a folder of their own, which is also where scratch folders are made."""

    def setUp(self):
        self.folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="kit-eval-")))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def suite(self, *args, **fields):
        return make_suite(self.folder / "suite", *args, **fields)

    def script(self, text, name="agent.py"):
        """Write an agent; return the command line that runs it."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return f'"{Path(sys.executable).as_posix()}" {name}'

    def environment(self, **variables):
        return {**dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temporary)), **variables}

    def run_program(self, *words, suite=None, program=PROGRAM, **options):
        """Run the harness from the folder; return the finished process. No scratch folder may be left."""
        env = self.environment(**options.pop("env", {}))
        done = run(program, suite or self.folder / "suite", *words, cwd=self.folder, env=env, **options)
        self.assertEqual([line for line in done.stderr.splitlines() if line.startswith("Traceback")], [])
        self.check_nothing_left()
        return done

    def start(self, *words):
        """Start the harness and return the process; its output goes to pipes."""
        command = [sys.executable, str(PROGRAM), str(self.folder / "suite"), *map(str, words)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        env = {**os.environ, **self.environment()}
        return subprocess.Popen(command, cwd=self.folder, env=env, encoding="utf-8", **pipes)

    def measured(self, agent, *words, code=0, **options):
        """Run the harness with a script as the agent; return (report, lines of stderr)."""
        done = self.run_program("--candidate", self.script(agent), *words, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout), done.stderr.splitlines()

    def check_nothing_left(self):
        self.assertEqual(os.listdir(self.temporary), [])

    def sample(self, candidate, *args, **options):
        """Run a Python candidate over the first task of the suite; return its first sample."""
        previous, tempfile.tempdir = tempfile.tempdir, str(self.temporary)
        try:
            report = lab.EvalHarness(lab.load_suite(self.folder / "suite"), *args, **options).run(candidate).to_dict()
        finally:
            tempfile.tempdir = previous
        self.check_nothing_left()
        return report["tasks"][0]["details"][0]


def alive(number):
    """Return whether a process is there and is not a zombie (POSIX)."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return sys.platform != "linux"
