"""The documents tell the truth: every command in README is run, and the output shown is the output that comes."""

import doctest
import re
import unittest

from kit import KIT, run

import ticket_triage
from grading import Mark, tests_of

README = (KIT / "README.md").read_text(encoding="utf-8")
TASK = (KIT / "TASK.md").read_text(encoding="utf-8")
TEST_COMMAND = "python -m unittest discover tests/kit"


def shown_commands(text):
    """Return [(command, output shown)] of the blocks of a document that begin with `$ `."""
    blocks = re.findall(r"^```\n(\$ .*?)^```$", text, re.MULTILINE | re.DOTALL)
    parts = [part.partition("\n") for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    return [(command, output.rstrip("\n")) for command, _, output in parts]


def clause_words(text):
    """Return {clause: the code that stands in its text between backticks}."""
    parts = re.split(r"^- \*\*([A-Z]\d+)\*\* ", text, flags=re.MULTILINE)
    ends = [re.split(r"\n(?=\n\S|```|## )", part)[0] for part in parts[2::2]]
    words = [set(re.findall(r"(?<!`)`(?! )([^`\n]+)`(?!`)", end)) for end in ends]
    return dict(zip(parts[1::2], (found - {"(name, what it returned)"} for found in words)))  # the one that is translated


class Documents(unittest.TestCase):
    def test_readme_shows_real_output(self):
        commands = shown_commands(README)
        self.assertGreater(len(commands), 2)
        for command, output in commands:
            if command == TEST_COMMAND:  # it is what runs this test
                continue
            with self.subTest(command=command):
                words = command.split()
                self.assertEqual(words[0], "python")
                done = run(*words[1:])
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertEqual(done.stderr, "")
                self.assertEqual(output, done.stdout.rstrip("\n"))

    def test_ci_calls_the_test_command_of_readme(self):
        self.assertIn(f"$ {TEST_COMMAND}\n", README)
        self.assertIn(TEST_COMMAND.partition(" ")[2], (KIT / ".ci" / "run").read_text(encoding="utf-8"))

    def test_task_has_the_clauses_that_the_tests_name(self):
        stated = re.findall(r"^- \*\*([A-Z]\d+)\*\* ", TASK, re.MULTILINE)
        tested = {clause for test in tests_of("ticket_triage", ticket_triage) for clause in Mark(test).sentences}
        expected = [f"{group}{number}" for group, last in (("P", 9), ("R", 5), ("T", 8), ("E", 3), ("C", 4)) for number in range(1, last + 1)]
        self.assertEqual(stated, expected)
        self.assertEqual(sorted(tested), sorted(expected))

    def test_both_languages_state_the_same_clauses_signatures_and_code(self):
        chinese = (KIT / "TASK_cn.md").read_text(encoding="utf-8")
        parts = (r"^- \*\*([A-Z]\d+)\*\* ", r"^## (\d\. .*)$", r"^```\w*\n.*?^```$", r"^\| (`[^|]*`) \|")
        for part in parts:
            with self.subTest(part=part):
                stated = re.findall(part, TASK, re.MULTILINE | re.DOTALL if "?" in part else re.MULTILINE)
                self.assertGreater(len(stated), 3)
                self.assertEqual(stated, re.findall(part, chinese, re.MULTILINE | re.DOTALL if "?" in part else re.MULTILINE))
        for clause, words in clause_words(TASK).items():
            with self.subTest(clause=clause):
                self.assertEqual(words - clause_words(chinese)[clause], set(), "code of the clause that the other lacks")

    def test_task_shows_the_signatures_of_the_four_functions(self):
        source = (KIT / "solution" / "ticket_triage.py").read_text(encoding="utf-8")
        for heading in re.findall(r"^## \d\. (\w+\(.*\)) -> ", TASK, re.MULTILINE):
            with self.subTest(heading=heading):
                self.assertIn(f"def {heading}:", source)

    def test_task_shows_real_results(self):
        """Each `# result` under a call in a Python block of TASK.md is what the solution gives."""
        names = dict(vars(ticket_triage))
        checked = 0
        for block in re.findall(r"^```python\n(.*?)^```$", TASK, re.MULTILINE | re.DOTALL):
            code = ""
            for line in re.sub(r"\n#  ", " ", block).splitlines():
                if not line.startswith("# "):
                    exec(code, names)
                    code = line
                    continue
                with self.subTest(code=code):
                    checked += 1
                    try:
                        got = repr(eval(code, names))
                    except ticket_triage.TriageError as error:
                        got = f"{type(error).__name__}: {error}"
                    self.assertEqual(line[2:], got)
                code = ""
        self.assertEqual(checked, 5)

    def test_docstring_examples_of_the_solution_run(self):
        results = doctest.testmod(ticket_triage)
        self.assertGreater(results.attempted, 4)
        self.assertEqual(results.failed, 0)


if __name__ == "__main__":
    unittest.main()
