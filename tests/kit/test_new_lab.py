"""A new lab is one file in each room, and touches nothing else: one is added to a copy of the kit."""

import shutil
import tempfile
import unittest
from pathlib import Path

from kit import KIT, run

SOLUTION = '''"""A small lab."""

from ticket_triage import ReplayClient


class HalfError(Exception):
    """It is odd."""


# ---- to write, 1 of 1


def _is_odd(number):
    return number % 2


def halve(client):
    """Return half of what the client says.

    >>> halve(ReplayClient(["4"]))
    2
    """
    number = int(client([]))
    if _is_odd(number):
        raise HalfError(f"number: {number}")
    return number // 2
'''
TESTS = '''import halving as lab
from labtest import Client, LabTest


class Halve(LabTest):
    def test_h1_halves_what_is_even(self):
        """H1 An even number is halved, an odd one refused.

        Hint: What is left over?
        """
        with self.subTest(clause="H1", because="7 is odd"):
            self.returns(3, lab.halve, Client("6"))
            self.refuses(lab.HalfError, "number", lab.halve, Client("7"))
'''


class NewLab(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-lab-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for room in ("solution", "starter", "tests"):
            shutil.copytree(KIT / room, self.folder / room, ignore=shutil.ignore_patterns("right", "wrong", "hostile", "__pycache__"))
        shutil.copy(KIT / "verify.py", self.folder)
        for name, text in (("solution/halving.py", SOLUTION), ("tests/test_halving.py", TESTS), ("scenario/halving/TASK.md", "- **H1** Halve.\n")):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.assertEqual(run("tests/kit/make_starter.py", cwd=self.folder).returncode, 0)

    def test_it_is_made_shown_and_graded(self):
        starter = (self.folder / "starter" / "halving.py").read_text(encoding="utf-8")
        self.assertIn('raise NotImplementedError("write halve")', starter)
        self.assertNotIn("_is_odd", starter)
        done = run("verify.py", "starter/halving.py", "--hint", cwd=self.folder)
        for text in ("halve  0 of 1   H1", "scenario/halving/TASK.md H1: An even number", "hint      What is left over?", "0 of 1 passed"):
            self.assertIn(text, done.stdout)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(run("verify.py", "solution", "--lab", "halving", cwd=self.folder).returncode, 0)

    def test_a_class_of_it_is_graded(self):
        (self.folder / "class").mkdir()
        for name, text in (("ann_1_halving.py", SOLUTION), ("bo_2_halving-1.py", SOLUTION.replace("if _is_odd(number)", "if False"))):
            (self.folder / "class" / name).write_text(text, encoding="utf-8")
        done = run("verify.py", "class", "--lab", "halving", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual([line.split(" of 1")[0].split() for line in done.stdout.splitlines()[:2]], [["ann_1_halving", "1"], ["bo_2_halving-1", "0"]])

    def test_every_lab_is_graded_by_one_command(self):
        """The exit code is 0 when all pass all; reports and what is for one lab are refused before anything is graded."""
        done = run("verify.py", "--lab", "all", "solution", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in ("solution/halving.py\n", "1 of 1 passed\n\nsolution/ticket_triage.py\n", "15 of 15 passed"):
            self.assertIn(text, done.stdout)
        shutil.copy(self.folder / "starter" / "halving.py", self.folder / "solution")
        self.assertEqual(run("verify.py", "--lab", "all", "solution", "-q", cwd=self.folder).returncode, 1)
        (self.folder / "solution" / "halving.py").unlink()
        for arguments, named in ((["solution"], "halving.py"), (["--csv", "x.csv"], "--csv"), (["-k", "P1"], "-k"), (["--reset"], "--reset")):
            with self.subTest(arguments=arguments):
                done = run("verify.py", "--lab", "all", *arguments, cwd=self.folder)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
                self.assertIn(named, done.stderr)


if __name__ == "__main__":
    unittest.main()
