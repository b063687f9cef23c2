"""The tests under test: they accept every right solution, refuse every wrong one where they should, and let nothing trivial pass.

right/LAB/, wrong/LAB/ and trivial/LAB/ hold parts of submissions; frame.py puts them into the lab's solution. A wrong one
says which clause it breaks, `P5: isinstance lets true through`: in a row of wrong/LAB.txt (table.py), or in its first line.
"""

import ast
import unittest

import frame
import table
from kit import HERE, LABS, clauses_of, pool, solution_of
from make_starter import functions_to_write

RIGHT_AT_LEAST = 5  # solutions of each lab, in different styles
TESTS_THAT_REFUSE = 3  # at most: the one that states the clause, and two others
TRIVIAL = {  # of every lab; what is of one lab stands in trivial/LAB/
    "raises ValueError": "raise ValueError('no')",
    "is not written yet": "raise NotImplementedError('write it')",
    "ends the process": "raise SystemExit(0)",
    "returns None": "return None",
    "returns its first argument": "return args[0]",
    "returns all its arguments": "return args, options",
    "returns an empty dict": "return {}",
    "returns True": "return True",
}


def trivial(lab):
    """Return {what it does: the submission} of all that may pass no test of the lab."""
    functions = functions_to_write(lab)
    parts = {what: "\n\n".join(f"def {name}(*args, **options):\n    {body}\n" for name in functions) for what, body in TRIVIAL.items()}
    parts.update((title(path), path.read_text(encoding="utf-8")) for path in frame.parts("trivial", lab))
    return {what: frame.framed(lab, part) for what, part in parts.items()}


def title(path):
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()[0]


def lab_of(path):
    return path.parent.name


def wrong_of(lab):
    """Return [(lab, row, the whole submission)] of the lab's table and of its files."""
    rows = table.wrong_of(lab)
    for path in frame.parts("wrong", lab):
        row = table.Row(f"wrong/{lab}/{path.name}", *title(path).split(": ", 1))
        rows.append((row, frame.framed(lab, path.read_text(encoding="utf-8"))))
    return [(lab, row, text) for row, text in rows]


def isolated(path):
    return frame.graded(lab_of(path), frame.framed(lab_of(path), path.read_text(encoding="utf-8")))


def not_passed(marks):
    return [mark for mark in marks if mark.verdict != "passed"]


def complaint(clause, marks):
    """Return what is wrong with the refusal of a submission that breaks this clause, or None."""
    refusing = not_passed(marks)
    names = ", ".join(mark.name for mark in refusing)
    if not any(clause in mark.sentences for mark in refusing):
        return f"no test that states {clause} refuses it; refused by: {names or 'none'}"
    if len(refusing) > TESTS_THAT_REFUSE:
        return f"{len(refusing)} tests refuse it: {names}"
    row = refusing[0].failures[0]
    missing = [field for field in ("clause", "call", "expected", "got") if not getattr(row, field)]
    if missing:
        return f"the first failing row of {refusing[0].name} does not tell {', '.join(missing)}: {vars(row)}"
    if row.clause not in refusing[0].sentences:
        return f"the first failing row is of {row.clause}, and {refusing[0].name} does not state that"
    return None


class RightAndWrong(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.right = [path for lab in LABS for path in frame.parts("right", lab)]
        cls.wrong = [wrong for lab in LABS for wrong in wrong_of(lab)]
        cls.tests = {lab: len(frame.graded_here(lab, solution_of(lab))) for lab in LABS}
        cls.pool = pool()

    @classmethod
    def tearDownClass(cls):
        cls.pool.shutdown()

    def test_every_right_solution_passes_all(self):
        for lab in LABS:
            self.assertGreaterEqual(len(frame.parts("right", lab)), RIGHT_AT_LEAST, lab)
        for path, marks in zip(self.right, self.pool.map(isolated, self.right)):
            with self.subTest(lab=lab_of(path), right=path.name, style=title(path)):
                self.assertEqual(len(marks), self.tests[lab_of(path)])
                self.assertEqual([(mark.name, mark.failures) for mark in not_passed(marks)], [])

    def check_refusals(self, grade, wrong):
        labs, rows, texts = zip(*wrong)
        for lab, row, marks in zip(labs, rows, self.pool.map(grade, labs, texts, chunksize=8)):
            with self.subTest(lab=lab, wrong=str(row)):
                self.assertEqual(len(marks), self.tests[lab])
                self.assertIsNone(complaint(row.clause, marks))

    def test_every_wrong_solution_is_refused_by_the_test_of_its_clause(self):
        self.check_refusals(frame.graded_here, self.wrong)

    def test_in_a_worker_the_refusal_is_the_same(self):
        self.check_refusals(frame.graded, self.wrong[::20])

    def test_every_clause_has_a_wrong_solution(self):
        for lab in LABS:
            with self.subTest(lab=lab):
                clauses = {row.clause for _, row, _ in wrong_of(lab)}
                self.assertEqual(sorted(clauses), sorted(clauses_of(lab)))

    def test_nothing_trivial_passes_a_test(self):
        rows = [(lab, what, text) for lab in LABS for what, text in trivial(lab).items()]
        labs, _, texts = zip(*rows)
        for (lab, what, _), marks in zip(rows, self.pool.map(frame.graded, labs, texts)):
            with self.subTest(lab=lab, trivial=what):
                self.assertEqual(len(marks), self.tests[lab])
                self.assertEqual([mark.name for mark in marks if mark.verdict == "passed"], [])

    def test_every_part_is_of_a_lab(self):
        rooms = [HERE / room for room in ("right", "wrong", "trivial", "hostile", "mutate_survivors")]
        found = {entry.stem for room in rooms for entry in room.iterdir() if entry.name != "__pycache__"}
        self.assertEqual(found - set(LABS), set())

    def test_this_file_can_fail(self):
        """The solution is no wrong solution, a part that replaces nothing is none, and each complaint is made."""
        lab = "ticket_triage"
        marks = frame.graded_here(lab, solution_of(lab))
        self.assertEqual(not_passed(marks), [])
        self.assertIn("refused by: none", complaint("P5", marks))
        with self.assertRaises(ValueError):
            frame.framed(lab, "def no_such_name():\n    pass\n")
        broken = frame.graded_here(lab, frame.framed(lab, "def parse_triage(raw, categories):\n    return {}\n"))
        self.assertIn("tests refuse it", complaint("P5", broken))
        self.assertIn("no test that states E3", complaint("E3", broken[:6]))


if __name__ == "__main__":
    unittest.main()
