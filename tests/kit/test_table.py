"""The tables of wrong submissions: what a row may look like, and the one line that names each fault of a row."""

import tempfile
import unittest
from pathlib import Path

import table

SOLUTION = '''def half(number):
    if type(number) is not int:
        raise TypeError(number)
    text = "a => b"
    return number // 2


def third(number):
    if type(number) is not int:
        raise TypeError(number)
    return number // 3
'''
WHOLE = "-    return number // 3\n+    return number / 3\n"
ROWS = (  # a table, and what is new in the submission that it makes
    ("H1: a short edit || number // 2 => number / 2\n", ["    return number / 2"]),
    (
        "H1: text of two lines\n     text = \"a => b\"\n-    return number // 2\n+    return 2\n+    return 1\n",
        ["    return 2", "    return 1"],
    ),
    (f"# first\n\nH1: with blank lines around\n\n{WHOLE}\n# last\n", ["    return number / 3"]),
    (f"H1: two places\n{WHOLE}@@\n-    return number // 2\n+    return 4\n", ["    return 4", "    return number / 3"]),
    (
        "H1: what git diff prints\ndiff --git a/solution/x.py b/solution/x.py\nindex 10b..20c 100644\n"
        "--- a/solution/x.py\n+++ b/solution/x.py\n"
        f"@@ -11,3 +11,3 @@ def third(number):\n         raise TypeError(number)\n{WHOLE}",
        ["    return number / 3"],
    ),
    (  # a blank line of the solution may lose its blank in front, as editors do it
        "H1: an empty line\n     return number // 2\n\n\n-def third(number):\n+def third(number, other=0):\n",
        ["def third(number, other=0):"],
    ),
)
FAULTS = (  # a table, and what the one line says
    ("H1: nowhere || number // 4 => 1\n", "line 1: H1: nowhere: its old text is not in the solution: 'number // 4'"),
    ("\nH1: twice || raise TypeError => pass\n", "line 2: H1: twice: its old text occurs 2 times in the solution, so"),
    ("H1: twice\n-        raise TypeError(number)\n", "line 1: H1: twice: its old text occurs 2 times"),
    ("H1: part of a line\n-number // 2\n+1\n", "H1: part of a line: its old text is not in the solution"),
    ("H1: no end || number // 2\n", "line 1: H1: no end: expected `old => new`"),
    ('H1: two arrows || "a => b" => "c"\n', "with another => in it, use lines that begin with - and +"),
    ("H1: the same || number // 2 => number // 2\n", "H1: the same: it changes nothing"),
    ("H1: no place\n+    return 1\n", "H1: no place: it says what comes in and not where"),
    ("H1: nothing\n\nH2: more || number // 2 => 1\n", "line 1: H1: nothing: expected `|| old => new` behind it"),
    ("H1: both || number // 2 => 1\n-    return number // 2\n", "H1: both: a row has `|| old => new` or lines below"),
    ("H1: no Python || number // 2 => number //\n", "H1: no Python: what it makes is not Python: line 5"),
    ("h1 no clause || number // 2 => 1\n", "line 1: expected `CLAUSE: mistake`"),
    ("-    return number // 2\n", "line 1: this change stands above the first `CLAUSE: mistake`"),
    (
        "H1: overlap\n-    text = \"a => b\"\n-    return number // 2\n@@\n     text = \"a => b\"\n+    text = 1\n",
        "H1: overlap: two of its changes are of the same lines",
    ),
)


class Table(unittest.TestCase):
    def made(self, text):
        """Return the submissions that a table makes of SOLUTION."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "lab.txt")
            path.write_text(text, encoding="utf-8")
            return [table.edited(row, SOLUTION) for row in table.read_rows(path)]

    def test_a_row_is_a_small_edit_of_the_solution(self):
        for text, new in ROWS:
            with self.subTest(text):
                made, = self.made(text)
                self.assertEqual([line for line in made.splitlines() if line not in SOLUTION.splitlines()], new)

    def test_a_fault_names_the_row_and_what_to_do(self):
        for text, said in FAULTS:
            with self.subTest(text):
                with self.assertRaises(table.TableError) as caught:
                    self.made(text)
                self.assertIn(said, str(caught.exception))
                self.assertIn("wrong/lab.txt, line ", str(caught.exception))
                self.assertNotIn("\n", str(caught.exception))

    def test_a_lab_without_a_table_has_no_rows(self):
        self.assertEqual(table.read_rows("no_such_lab.txt"), [])


if __name__ == "__main__":
    unittest.main()
