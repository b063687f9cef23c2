"""The starter is the solution without its answers, and make_starter cuts nothing else."""

import difflib
import unittest

from kit import KIT, run

from make_starter import functions_to_write, made_files, make_starter, names_to_write, provided_parts

SMALL = '''"""A lab."""

LIMIT = 3
PASSED, FAILED = 0, 1
NAMES: dict = {}
NAMES["a"] = 1


def evaluate(text):
    return text  # stays: it is provided


def _given(text):
    return text


# ---- to write, 1 of 1


_PATTERN = "x"
_FIRST, _SECOND = "ab"


# what it is for
@staticmethod
def _helper(text):
    # goes
    return text


def answer(text, *, limit=LIMIT):
    """Return it.

    >>> answer("a")
    """
    if text:
        return _helper(text)


# ---- provided: the command line


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
        starter = make_starter(SMALL)
        compile(starter, "starter.py", "exec")
        changes = [line for line in difflib.ndiff(SMALL.splitlines(), starter.splitlines()) if line[:2] == "+ "]
        self.assertEqual(changes, ['+     raise NotImplementedError("write answer")'])
        for gone in ("_helper", "_PATTERN", "_FIRST", "what it is for", "staticmethod"):
            self.assertNotIn(gone, starter)
        self.assertIn('>>> answer("a")\n    """\n    raise', starter)
        self.assertIn("# ---- to write, 1 of 1\n\n\ndef answer(text, *, limit=LIMIT):", starter)
        self.assertEqual(starter.partition("# ---- to write")[0], SMALL.partition("# ---- to write")[0])
        self.assertEqual(starter.partition("# ---- provided")[2], SMALL.partition("# ---- provided")[2])

    def test_the_solution_says_what_is_to_write(self):
        """Not the name of a function, nor a line inside a text."""
        self.assertEqual(functions_to_write("ticket_triage"), ["parse_triage", "run_tool_call", "triage", "evaluate"])
        self.assertEqual(names_to_write(SMALL), ["answer"])
        self.assertEqual(names_to_write(SMALL.replace('"x"', '"""\n# ---- provided\n"""')), ["answer"])

    def test_a_starter_that_would_give_answers_away_is_not_made(self):
        rows = [
            (SMALL.replace('"""Return it.', '"a" + """Return it.'), "answer, line 31: a function to write needs a docstring"),
            (SMALL.replace("# ---- to write", "# --- to write"), "no public function stands under"),
        ]
        for solution, reason in rows:
            with self.subTest(reason=reason):
                with self.assertRaisesRegex(ValueError, reason) as caught:
                    make_starter(solution)
                self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_every_provided_name_is_known(self):
        parts = provided_parts(make_starter(SMALL))
        self.assertEqual(list(parts["provided"]), ["LIMIT", "PASSED, FAILED", "NAMES", "evaluate", "_given", "main"])
        self.assertEqual(parts["to_write"], {"answer": "def answer(text, *, limit=LIMIT):"})

    def test_the_starter_says_what_is_not_written(self):
        done = run("starter/ticket_triage.py", "scenario/ticket_triage")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", "ticket_triage.py: write parse_triage\n"))

    def test_no_file_holds_two_versions_of_itself(self):
        """What a merge leaves between its marks would be handed out."""
        files = [path for room in ("", "tests", "solution", "starter", "scenario") for path in (KIT / room).glob("**/*" if room else "*")]
        marked = [path for path in files if path.suffix in (".py", ".md", ".txt", ".json", ".html") and has_merge_marks(path)]
        self.assertEqual(marked, [])


def has_merge_marks(path):
    lines = path.read_bytes().splitlines()
    return any(line.startswith((b"<" * 7 + b" ", b">" * 7 + b" ")) for line in lines)


if __name__ == "__main__":
    unittest.main()
