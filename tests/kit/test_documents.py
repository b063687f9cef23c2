"""The pages tell the truth: every command shown with `$` is run, and its output is the output shown.

`python tests/kit/test_documents.py --write` puts the real output into the pages.
"""

import importlib
import re
import sys
import unittest

import frame
from kit import KIT, clauses_of, run, solution_of, task_of

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


def real_output(command):
    """Return what a command prints. `python starter/LAB.py` is shown as it is when the lab is done: the solution runs."""
    command, _, lines = command.partition(" | head -n ")
    python, *words = command.replace("python starter/", "python solution/").split()
    done = run(*words)
    if python != "python" or done.returncode not in (0, 1) or done.stderr:
        raise AssertionError(f"{command}: exit code {done.returncode}, {done.stderr}")
    return "\n".join(done.stdout.splitlines()[: int(lines) if lines else None]).rstrip("\n")


def write_real_output():
    for page in PAGES:
        text = page_text(page)
        for command, output in shown_commands(text):
            if command != TEST_COMMAND:
                text = text.replace(f"$ {command}\n{output}\n", f"$ {command}\n{real_output(command)}\n")
        (KIT / page).write_text(text, encoding="utf-8")


class Documents(unittest.TestCase):
    def test_pages_show_real_output(self):
        commands = [shown for page in PAGES for shown in shown_commands(page_text(page))]
        self.assertGreater(len(commands), 2)
        for command, output in commands:
            if command != TEST_COMMAND:  # it is what runs this test
                with self.subTest(command=command, mend="python tests/kit/test_documents.py --write"):
                    self.assertEqual(output, real_output(command))

    def test_readme_is_short_and_names_only_what_is_handed_out(self):
        readme = page_text("README.md")
        self.assertLessEqual(len(readme.splitlines()), README_LIMIT)
        for line in readme.splitlines():
            if re.match(r"(\$ )?python ", line):
                self.assertNotRegex(line, r"\bsolution\b|tests/kit")

    def test_each_promise_of_the_grader_names_a_class_of_tests(self):
        promises = re.findall(r"^\| (.*\.) \| `(test_\w+)\.(\w+)` \|$", page_text("tests/README.md"), re.MULTILINE)
        self.assertGreaterEqual(len(promises), 14)
        for promise, module, name in promises:
            with self.subTest(promise=promise):
                tests = getattr(importlib.import_module(module), name)
                self.assertTrue(unittest.defaultTestLoader.getTestCaseNames(tests))

    def test_links_between_the_pages_lead_somewhere(self):
        for page in (*PAGES, "TASK.md", "TASK_cn.md"):
            for target in re.findall(r"\]\((?!https?:)([^)#]+)", page_text(page)):
                with self.subTest(page=page, target=target):
                    self.assertTrue(((KIT / page).parent / target).exists())

    def test_ci_calls_the_test_command_of_the_authors_page(self):
        self.assertIn(f"$ {TEST_COMMAND}\n", page_text("tests/kit/README.md"))
        self.assertIn(TEST_COMMAND.partition(" ")[2], (KIT / ".ci" / "run").read_text(encoding="utf-8"))
    def test_the_main_lab_has_fifteen_tests_of_its_clauses(self):
        """check.py holds each lab's TASK.md against its tests and its solution."""
        tests = frame.tests_on("ticket_triage", solution_of("ticket_triage"))
        self.assertEqual((len(clauses_of("ticket_triage")), len(tests)), (29, 15))
        self.assertTrue(task_of("ticket_triage").with_name("TASK_cn.md").exists())


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write_real_output()
    else:
        unittest.main()
