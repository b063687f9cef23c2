"""A new lab adds files and no code, and its author is told each mistake in one line with the command to run next.

A small lab is put into a copy of the kit; each row of MISTAKES breaks one of its files.
"""

import concurrent.futures
import os
import shutil
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from kit import KIT, run

SOLUTION = '''"""A small lab."""

from ticket_triage import ReplayClient


class HalfError(Exception):
    """It is odd."""


class Counter:
    """It counts."""


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
TASK = """# Halving

## 1. halve(client) -> int

- **H1** Halve what is even.
"""
WRONG = """H1: an odd number passes || if _is_odd(number): => if False:

H1: it doubles
-    return number // 2
+    return number * 2
"""
RIGHT = """from fractions import Fraction


def halve(client):
    half = Fraction(client([])) / 2
    if half.denominator != 1:
        raise HalfError("number")
    return int(half)
"""
FILES = {
    "solution/halving.py": SOLUTION,
    "tests/test_halving.py": TESTS,
    "scenario/halving/TASK.md": TASK,
    "tests/kit/wrong/halving.txt": WRONG,
    **{f"tests/kit/right/halving/style_{number}.py": f'"""Style {number}."""\n\n{RIGHT}' for number in range(5)},
}
SOLUTION_FILE, TESTS_FILE, TASK_FILE, TABLE, STYLE = (*list(FILES)[:4], "tests/kit/right/halving/style_0.py")
CHECK, MAKE = "python tests/kit/check.py halving", "python tests/kit/make_starter.py"
EDIT = f"edit {TABLE}"
IMPORT, FIRST = "import halving as lab", 'Client("6"))'
DOCSTRING = TESTS[TESTS.index('        """') : TESTS.index("        with")]
REFUSES = TESTS[TESTS.index("            self.refuses") :]
RETURNS = TESTS[TESTS.index("            self.returns") : TESTS.index("            self.refuses")]
CONTRACT = SOLUTION[SOLUTION.index('    """Return') : SOLUTION.index("    number =")]
MISTAKES = (  # a file; what is changed in it, and into what; what the line says; the command to run next
    (TESTS_FILE, '"""H1 An', '"""An', "line 6: test_h1_halves_what_is_even does not say which clause it tests", CHECK),
    (TESTS_FILE, DOCSTRING, "", "line 6: test_h1_halves_what_is_even does not say which clause", CHECK),
    (TESTS_FILE, "class H", "HALF = lab.halve(Client('6'))\n\n\nclass H", "line 5: lab.halve is used while", CHECK),
    (TESTS_FILE, "    def test", "    E = lab.HalfError\n\n    def test", "line 6: lab.HalfError is used while", CHECK),
    (TESTS_FILE, "(self):", "(self, error=lab.HalfError):", "line 6: lab.HalfError is used while", CHECK),
    (
        TESTS_FILE, "class H", "half = lambda: lab.halve\nHALF = half()\n\n\nclass H",
        "line 5: it cannot be imported without a submission: AttributeError", CHECK,
    ),
    (TESTS_FILE, 'Client("6")', 'lab.ReplayClient(["6"])', "line 12: an object of lab.ReplayClient does not", CHECK),
    (TESTS_FILE, FIRST, f"{FIRST}\n            lab.Counter()", "line 13: an object of lab.Counter does not", CHECK),
    (TESTS_FILE, FIRST, f"{FIRST}\n            open(lab.__file__)", "line 13: lab.__file__: the submission", CHECK),
    (TESTS_FILE, FIRST, f"{FIRST}\n            open('solution/halving.py')", "line 13: 'solution/halving.py'", CHECK),
    (TESTS_FILE, IMPORT, f"import inspect\n{IMPORT}", "line 1: inspect sees nothing of a submission", CHECK),
    (TESTS_FILE, IMPORT, f"{IMPORT}\nfrom halving import HalfError", "line 2: what is imported from halving is", CHECK),
    (TESTS_FILE, IMPORT, f"{IMPORT}\nfrom ticket_triage import show", "line 2: a helper of ticket_triage is", CHECK),
    (TESTS_FILE, IMPORT, f"{IMPORT}\nimport ticket_triage", "line 2: a helper of ticket_triage is", CHECK),
    (TESTS_FILE, IMPORT, "import halving", "line 1: the grader knows the submission as `lab`: write", CHECK),
    (TESTS_FILE, IMPORT, "import json as lab", "line 1: it does not import the lab", CHECK),
    (TESTS_FILE, IMPORT, f"{IMPORT}\nimport no_such_module", "line 2: it cannot be imported without a sub", CHECK),
    (TESTS_FILE, IMPORT, f"{IMPORT}\nraise SystemExit(3)", "line 2: it cannot be imported without a sub", CHECK),
    (TESTS_FILE, "(LabTest):\n", ":\n", "tests/test_halving.py has no test: write a class of labtest.LabTest", CHECK),
    (TESTS_FILE, "    def test", "    def test(", "tests/test_halving.py, line 6: ", CHECK),
    (
        TESTS_FILE, RETURNS, f"            lab.halve(Client('6')).bit_length()\n{RETURNS}",
        "test_h1_halves_what_is_even ends in an error of its own where a submission returns None: AttributeError", CHECK,
    ),
    (TESTS_FILE, REFUSES, "", "line 1: H1: an odd number passes: no test that states H1 ref", f"{CHECK} 'line 1'"),
    (TESTS_FILE, RETURNS, "", "line 3: H1: it doubles: no test that states H1 refuses it", f"{CHECK} 'line 3'"),
    (TESTS_FILE, 'clause="H1", ', "", "the first failing row of test_h1_halves_what", f"{CHECK} 'line 1'"),
    (
        TESTS_FILE, 'Client("6")', 'Client("8")',
        "solution/halving.py is right and fails in a worker: test_h1", "python verify.py solution/halving.py",
    ),
    (SOLUTION_FILE, CONTRACT, "", "solution/halving.py: halve, line 21: a function to write needs a docstring", MAKE),
    (SOLUTION_FILE, "    2\n", "    3\n", "1 examples in docstrings of solution/halving.py are wrong", CHECK),
    (SOLUTION_FILE, "# ---- to write", "# ---- done", "solution/halving.py: no public function", MAKE),
    (SOLUTION_FILE, "A small lab.", "A lab.", "halving.py is out of step with solution/", MAKE),
    (SOLUTION_FILE, "(client):", "(client, base=10):", "the heading halve(client) is not the solution's", CHECK),
    (SOLUTION_FILE, "(client):", "(client:", "solution/halving.py, line ", CHECK),
    (TASK_FILE, "**H1**", "**H2**", "a group are numbered from 1 without a gap, got H2", CHECK),
    (TASK_FILE, "even.\n", "even.\n- **H2** More.\n", "H2 is stated and named by no test", CHECK),
    (TASK_FILE, "- **H1** Halve what is even.\n", "", "H1 is named by a test and not stated", CHECK),
    (TASK_FILE, "## 1. halve(client) -> int\n", "", "it needs one heading `## 1. name(parameters) -> result`", CHECK),
    (TABLE, "_is_odd(", "is_odd(", "line 1: H1: an odd number passes: its old text is not in the solution", CHECK),
    (TABLE, "if _is_odd(number):", "number", "halving.txt, line 1: H1: an odd number passes: its old text occ", CHECK),
    (TABLE, WRONG, "", "no wrong submission breaks H1", EDIT),
    (STYLE, "/ 2", "/ 3", f"{STYLE} is right and fails", f"python verify.py {STYLE}"),
    (STYLE, "halve", "third", "style_0.py: it replaces nothing of the solution", CHECK),
)


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        every = unittest.mock.patch.dict(os.environ, {"KIT_WRONG_STEP": "1"})  # this table has two rows
        every.start()
        cls.addClassCleanup(every.stop)
        root = Path(tempfile.mkdtemp(prefix="kit-lab-"))
        cls.addClassCleanup(shutil.rmtree, root)
        cls.folder = root / "kit"
        skipped = shutil.ignore_patterns("right", "wrong", "hostile", "trivial", "mutate_survivors", "__pycache__")
        for room in ("solution", "starter", "tests"):
            shutil.copytree(KIT / room, cls.folder / room, ignore=skipped)
        shutil.copy(KIT / "verify.py", cls.folder)
        for name, text in FILES.items():
            write(cls.folder, name, text)
        made = run(MAKE.partition(" ")[2], cwd=cls.folder)
        if made.returncode:
            raise AssertionError(made.stderr)

    def test_a_lab_without_a_fault(self):
        done = run(*CHECK.split()[1:], cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line.split()[-1] for line in done.stdout.splitlines()[:-1]], ["ok"] * 9, done.stdout)

    def test_each_mistake_is_named_in_one_line_with_the_command_to_run_next(self):
        """The copies are checked two at a time, each in a process of its own."""
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            for mistake, done in zip(MISTAKES, threads.map(self.checked, range(len(MISTAKES)))):
                name, _, new, said, command = mistake
                with self.subTest(file=name, new=new, said=said):
                    self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
                    lines = done.stdout.splitlines()
                    found = [number for number, line in enumerate(lines) if said in line and line.startswith("  ")]
                    self.assertTrue(found, done.stdout)
                    self.assertEqual(lines[found[0] + 1], f"    next: {command}")

    def checked(self, number):
        """Check a copy of the small lab with one mistake in it."""
        name, old, new, _, _ = MISTAKES[number]
        folder = self.folder.with_name(f"kit{number}")
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
        if FILES[name].count(old) < 1:
            raise ValueError(f"{name} does not have {old!r}")
        write(folder, name, FILES[name].replace(old, new))
        if name == SOLUTION_FILE and "small" in new + FILES[name].replace(old, new):
            run("tests/kit/make_starter.py", cwd=folder)  # all but the row that is about this
        return run(*CHECK.split()[1:], cwd=folder)

    def test_one_wrong_submission_is_shown(self):
        done = run(*CHECK.split()[1:], "odd number", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("line 1: H1: an odd number passes\n  refused as it should be\n  test_h1", done.stdout)
        done = run(*CHECK.split()[1:], "no such words", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("has 'no such words' in it", done.stdout)

    def test_an_unknown_lab_is_named(self):
        for arguments in ((), ("nothing",), ("halving", "a", "b")):
            done = run("tests/kit/check.py", *arguments, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"^check.py: expected a lab \(.*halving.*ticket_triage.*\)[^\n]*\n$")

    def test_verify_shows_and_grades_it(self):
        starter = (self.folder / "starter" / "halving.py").read_text(encoding="utf-8")
        self.assertIn('raise NotImplementedError("write halve")', starter)
        self.assertNotIn("_is_odd", starter)
        done = run("verify.py", "starter/halving.py", "--hint", cwd=self.folder)
        shown = ("halve  0 of 1   H1", "TASK.md H1: An even number", "hint      Begin with this one call", "0 of 1 passed")
        for text in shown:
            self.assertIn(text, done.stdout)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        doubling = self.folder / "doubling" / "halving.py"
        doubling.parent.mkdir()
        doubling.write_text(SOLUTION.replace("// 2", "* 2"), encoding="utf-8")
        self.assertIn("hint      What is left over?", run("verify.py", doubling, "--hint", cwd=self.folder).stdout)
        self.assertEqual(run("verify.py", "solution", "--lab", "halving", cwd=self.folder).returncode, 0)

    def test_a_class_of_it_is_graded(self):
        wrong = SOLUTION.replace("if _is_odd(number)", "if False")
        handed_in = {"ann_1_halving.py": SOLUTION, "bo_2_halving-1.py": wrong}
        for name, text in handed_in.items():
            write(self.folder / "class", name, text)
        done = run("verify.py", "class", "--lab", "halving", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        passed = [line.split(" of 1")[0].split() for line in done.stdout.splitlines()[:2]]
        self.assertEqual(passed, [["ann", "1"], ["bo", "0"]])

    def test_every_lab_is_graded_by_one_command(self):
        """The exit code is 0 when all pass all; reports and options for one lab are refused first."""
        folder = self.folder.with_name("all")
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
        done = run("verify.py", "--lab", "all", "solution", cwd=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in ("solution/halving.py\n", "1 of 1 passed\n", "solution/ticket_triage.py\n", "15 of 15 passed"):
            self.assertIn(text, done.stdout)
        shutil.copy(folder / "starter" / "halving.py", folder / "solution")
        self.assertEqual(run("verify.py", "--lab", "all", "solution", "-q", cwd=folder).returncode, 1)
        (folder / "solution" / "halving.py").unlink()
        refused = {"halving.py": ["solution"], "--csv": ["--csv", "x.csv"], "-k": ["-k", "P1"], "--reset": ["--reset"]}
        for named, arguments in refused.items():
            with self.subTest(arguments=arguments):
                done = run("verify.py", "--lab", "all", *arguments, cwd=folder)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
                self.assertIn(named, done.stderr)


if __name__ == "__main__":
    unittest.main()
