"""The documents tell the truth: every command shown with `$` is run, and its output is the output shown."""

import doctest
import importlib
import re
import unittest

import frame
from kit import KIT, LABS, clauses_of, run, solution_of, task_of
from make_starter import functions_to_write

from grader.result import Mark

PAGES = ("README.md", "tests/README.md", "tests/kit/README.md")
README_LIMIT = 90  # lines: whoever comes first reads it whole
TEST_COMMAND = "python -m unittest discover tests/kit"


def page_text(page):
    return (KIT / page).read_text(encoding="utf-8")


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


def python_blocks(path):
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def results_shown(block, names):
    """Run a block's lines with these names; yield (code, result shown, result that comes) for each result shown."""
    code = ""
    for line in re.sub(r"\n#  ", " ", block).splitlines():
        if not line.startswith("# "):
            exec(code, names)
            code = line
            continue
        try:
            got = repr(eval(code, names))
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
        yield code, line[2:], got
        code = ""


class Documents(unittest.TestCase):
    def test_pages_show_real_output(self):
        """`python starter/LAB.py` is shown as it is when the lab is done: the solution runs in the starter's place."""
        commands = [shown for page in PAGES for shown in shown_commands(page_text(page))]
        self.assertGreater(len(commands), 2)
        for command, output in commands:
            if command == TEST_COMMAND:  # it is what runs this test
                continue
            with self.subTest(command=command):
                command, _, lines = command.partition(" | head -n ")
                python, *words = command.replace("python starter/", "python solution/").split()
                self.assertEqual(python, "python")
                done = run(*words)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertEqual(done.stderr, "")
                shown = done.stdout.splitlines()[: int(lines) if lines else None]
                self.assertEqual(output, "\n".join(shown).rstrip("\n"))

    def test_readme_is_short_and_names_only_what_is_handed_out(self):
        readme = page_text("README.md")
        self.assertLessEqual(len(readme.splitlines()), README_LIMIT)
        for line in readme.splitlines():
            if re.match(r"(\$ )?python ", line):
                self.assertNotRegex(line, r"\bsolution\b|tests/kit")

    def test_links_between_the_pages_lead_somewhere(self):
        for page in (*PAGES, "TASK.md", "TASK_cn.md"):
            for target in re.findall(r"\]\((?!https?:)([^)#]+)", page_text(page)):
                with self.subTest(page=page, target=target):
                    self.assertTrue(((KIT / page).parent / target).exists())

    def test_ci_calls_the_test_command_of_the_authors_page(self):
        self.assertIn(f"$ {TEST_COMMAND}\n", page_text("tests/kit/README.md"))
        self.assertIn(TEST_COMMAND.partition(" ")[2], (KIT / ".ci" / "run").read_text(encoding="utf-8"))

    def test_task_has_the_clauses_that_the_tests_name(self):
        """Numbered from 1 in each group, without a gap. The main lab has exactly fifteen tests."""
        for lab in LABS:
            with self.subTest(lab=lab):
                tests, stated = frame.tests_on(lab, solution_of(lab)), clauses_of(lab)
                groups = [clause[0] for clause in stated]
                self.assertEqual(stated, [f"{group}{n}" for group in dict.fromkeys(groups) for n in range(1, groups.count(group) + 1)])
                self.assertEqual({clause for test in tests for clause in Mark(test).sentences}, set(stated))
                if lab == "ticket_triage":
                    self.assertEqual((len(stated), len(tests)), (29, 15))

    def test_both_languages_state_the_same_clauses_signatures_and_code(self):
        translations = [(task_of(lab), task_of(lab).with_name("TASK_cn.md")) for lab in LABS]
        self.assertTrue(translations[LABS.index("ticket_triage")][1].exists())
        for original, translated in translations:
            if translated.exists():
                self.state_the_same(original.read_text(encoding="utf-8"), translated.read_text(encoding="utf-8"))

    def state_the_same(self, task, chinese):
        parts = (r"^- \*\*([A-Z]\d+)\*\* ", r"^## (\d\. .*)$", r"^```\w*\n.*?^```$", r"^\| (`[^|]*`) \|")
        for part in parts:
            with self.subTest(part=part):
                stated = re.findall(part, task, re.MULTILINE | re.DOTALL if "?" in part else re.MULTILINE)
                self.assertGreater(len(stated), 3)
                self.assertEqual(stated, re.findall(part, chinese, re.MULTILINE | re.DOTALL if "?" in part else re.MULTILINE))
        for clause, words in clause_words(task).items():
            with self.subTest(clause=clause):
                self.assertEqual(words - clause_words(chinese)[clause], set(), "code of the clause that the other lacks")

    def test_task_shows_the_signatures_of_the_functions_to_write(self):
        for lab in LABS:
            with self.subTest(lab=lab):
                headings = re.findall(r"^## \d\. (\w+\(.*\)) -> ", task_of(lab).read_text(encoding="utf-8"), re.MULTILINE)
                self.assertEqual([heading.partition("(")[0] for heading in headings], functions_to_write(lab))
                for heading in headings:
                    self.assertIn(f"def {heading}:", solution_of(lab))

    def test_task_shows_real_results(self):
        """Each `# result` under a call in a Python block of a TASK.md is what the solution gives."""
        for lab in LABS:
            shown = [pair for block in python_blocks(task_of(lab)) for pair in results_shown(block, dict(vars(importlib.import_module(lab))))]
            self.assertGreater(len(shown), 2)
            for code, line, got in shown:
                with self.subTest(lab=lab, code=code):
                    self.assertEqual(line, got)

    def test_docstring_examples_of_the_solution_run(self):
        """Each function to write shows one at least."""
        for lab in LABS:
            with self.subTest(lab=lab):
                results = doctest.testmod(importlib.import_module(lab), verbose=False)  # else it looks for -v
                self.assertGreaterEqual(results.attempted, len(functions_to_write(lab)))
                self.assertEqual(results.failed, 0)


if __name__ == "__main__":
    unittest.main()
