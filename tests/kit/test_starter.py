"""The starter is the solution without its answers, and make_starter cuts nothing else."""

import difflib
import unittest

from kit import KIT, run

from make_starter import functions_to_write, made_files, make_starter

SMALL = '''"""A lab."""

LIMIT = 3


def given(text):
    return text  # stays


# ---- to write


_PATTERN = "x"


def _helper(text):
    # goes
    return text


def answer(text, *, limit=LIMIT):
    """Return it.

    >>> answer("a")
    """
    if text:
        return _helper(text)


def main():
    return answer("")
'''


class Starter(unittest.TestCase):
    def test_nothing_is_out_of_step(self):
        for path, text in made_files().items():
            with self.subTest(path=path.name):
                self.assertEqual(path.read_text(encoding="utf-8"), text, "run python tests/kit/make_starter.py")
        self.assertEqual(run(KIT / "tests/kit/make_starter.py", "--check").returncode, 0)

    def test_only_the_answers_are_cut(self):
        starter = make_starter(SMALL, ["answer"])
        changes = [line for line in difflib.ndiff(SMALL.splitlines(), starter.splitlines()) if line[:2] == "+ "]
        self.assertEqual(changes, ['+     raise NotImplementedError("write answer")'])
        self.assertNotIn("_helper", starter)
        self.assertNotIn("_PATTERN", starter)
        self.assertIn('>>> answer("a")\n    """\n    raise', starter)
        self.assertIn("# ---- to write\n\n\ndef answer(text, *, limit=LIMIT):", starter)
        self.assertTrue(starter.endswith('def main():\n    return answer("")\n'))

    def test_functions_to_write_come_from_the_tests(self):
        self.assertEqual(functions_to_write("ticket_triage"), ["parse_triage", "run_tool_call", "triage", "evaluate"])

    def test_the_starter_says_what_is_not_written(self):
        done = run("starter/ticket_triage.py", "scenario/ticket_triage")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", "ticket_triage.py: write evaluate\n"))


if __name__ == "__main__":
    unittest.main()
