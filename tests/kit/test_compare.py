"""What verify.py says of a source beside its verdict: what was provided and is changed, or is missing; and what that may cost."""

import re
import time
import unittest

from kit import solution_of

from grader.intake.handout import changed_parts, definitions, originals

LAB = "ticket_triage"
SOLUTION = solution_of(LAB)
LONG = 60  # seconds that a piece of work without a bound takes at least


def spread(text):
    """Return a source in another form: other quotes, blanks, brackets, comments, docstrings with other indents, lines cut."""
    text = re.sub(r"= 120\b.*", "=  (\n    120\n)", text)
    text = text.replace('FIELDS = ("category", "priority", "summary", "needs_human")', "FIELDS = (  # the four\n    'category', 'priority',\n    'summary', 'needs_human',\n)")
    text = text.replace("class TriageError(Exception):\n    \"\"\"A ", "class TriageError( Exception ) :\n\n\t\"\"\"  A ")
    return text.replace("def evaluate(cases, client_for, *, categories, tools=None):", "def evaluate(cases,\n        client_for, *,\n    categories, tools = None\n):")


class Compared(unittest.TestCase):
    def test_what_is_written_counts_and_not_how(self):
        """An editor that formats a file changes nothing of what was provided."""
        other = spread(SOLUTION)
        self.assertGreater(len(other), len(SOLUTION))
        for text in (SOLUTION, SOLUTION.replace("\n\n\n", "\n\n"), other, SOLUTION + "\n\n\nclass Mine:\n    pass\n"):
            self.assertEqual(changed_parts(LAB, text), [])

    def test_each_change_is_named(self):
        rows = [
            ("a limit", "SUMMARY_LIMIT = 120", "SUMMARY_LIMIT = 121", "SUMMARY_LIMIT: provided, and changed here"),
            ("a base", "class ToolCallError(TriageError)", "class ToolCallError(ValueError)", "ToolCallError: provided, and changed here"),
            ("it is given a second time", "# ---- to write, 1", "SHOWN_LIMIT = 9\n# ---- to write, 1", "SHOWN_LIMIT: provided, and changed here"),
            ("a parameter less", "def triage(ticket_text, client, *,", "def triage(ticket_text, *,", "triage takes other parameters in line "),
            ("one more, without a default", "def evaluate(cases, client_for, *,", "def evaluate(cases, client_for, mode, *,", "evaluate takes other parameters"),
            ("another name", "def evaluate(", "def evaluation(", "evaluate is missing; is evaluation (line "),
            ("commented out", "def evaluate(", "def other(): pass\n# def evaluate(\ndef other_2(", "evaluate is missing"),
        ]
        for because, old, new, expected in rows:
            with self.subTest(because=because):
                self.assertEqual(SOLUTION.count(old), 1)
                notes = changed_parts(LAB, spread(SOLUTION.replace(old, new)))
                self.assertEqual(len(notes), 1, notes)
                self.assertTrue(notes[0].startswith(expected), notes)

    def test_a_function_can_be_bound_in_other_ways(self):
        """More parameters with a default, by an import, an assignment, or in an if: then it is there."""
        for old, new in (("def evaluate(cases, client_for, *,", "def evaluate(cases, client_for, mode=1, *,"),
                         ("def evaluate(", "from my_helper import evaluate\ndef other("), ("def evaluate(", "from my_helper import *\ndef other("),
                         ("def evaluate(", "evaluate = print\ndef other("), ("def evaluate(", "if True:\n    def evaluate(): pass\ndef other(")):
            with self.subTest(new=new):
                self.assertEqual(changed_parts(LAB, spread(SOLUTION.replace(old, new))), [])

    def test_no_source_keeps_the_grader_busy(self):
        """Whatever a megabyte holds, and wherever it stands: what was provided, or behind a change that makes the grader look closer."""
        changed = SOLUTION.replace("SUMMARY_LIMIT = 120", "SUMMARY_LIMIT = 121")
        rows = {
            "words of an import": "# " + " import" * 140_000, "brackets": "x = " + "(" * 900_000, "signs": "x = " + "-" * 900_000 + "1",
            "a list": "x = [" + "1," * 440_000 + "]", "headers": "def (" * 180_000, "a header": "def " + " a" * 440_000,
            "a header with colons": "def parse_triage(" + "a=':'," * 140_000, "lines": "\n" * 900_000, "names": "def evaluate\n" * 70_000,
            "a form feed": "\x0c" * 900_000, "blanks": " " * 900_000 + "x", "a bracket and comments": "x = (" + "#\n" * 440_000,
            "a text": "x = '''" + "'\\" * 440_000, "decorators": "@a\n" * 290_000, "ifs": "".join(" " * n + "if 1:\n" for n in range(1300)),
        }
        for what, text in rows.items():
            for source in (f"{SOLUTION}\n{text}\n", f"{changed}\n{text}\n", f"{text}\n{SOLUTION}"):
                with self.subTest(what=what):
                    begun = time.monotonic()
                    notes = changed_parts(LAB, source)
                    definitions(source)
                    self.assertLess(time.monotonic() - begun, LONG)
                    self.assertLess(sum(map(len, notes)), 1500)

    def test_definitions_are_found_by_line(self):
        """As Python counts lines: a form feed, or what other writings take for a line's end, begins none."""
        text = "# \x0c \x0b \x1c \x85 \u2028\ndef one(a):\n    def inner(): pass\nasync def  two (b): pass\nclass C: pass\ndef one(b): pass\ndef\ndefine(3)\n"
        self.assertEqual({name: number for name, number in definitions(text).items() if name}, {"one": 2, "two": 4})

    def test_every_header_of_the_starters_is_known(self):
        for lab, starter in originals()["starter"].items():
            self.assertTrue(starter["to_write"], lab)
            self.assertEqual(changed_parts(lab[: -len(".py")], starter["text"]), [])


if __name__ == "__main__":
    unittest.main()
