"""The fifteen tests under test: they accept every right solution, refuse every wrong one where they should, and let nothing trivial pass.

right/ and wrong/ hold parts of submissions; frame.py puts them into the solution. The first line of a wrong one says
which clause it breaks: `P5: isinstance lets true through, because bool is a kind of int.`
"""

import ast
import re
import unittest
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import frame

HERE = Path(__file__).resolve().parent
TESTS_THAT_REFUSE = 3  # at most: the one that states the clause, and two others
CONTRACT = """
    P1 P2 P3 P4 P5 P6 P7 P8 P9  R1 R2 R3 R4 R5  T1 T2 T3 T4 T5 T6 T7 T8  E1 E2 E3  C1 C2 C3 C4
""".split()
TRIVIAL = {
    "refuses everything": "raise ToolCallError('category priority summary needs_human tool arguments number carrier')",
    "raises TriageError": "raise TriageError('category')",
    "raises ValueError": "raise ValueError('no')",
    "is not written yet": "raise NotImplementedError('write it')",
    "ends the process": "raise SystemExit(0)",
    "returns None": "return None",
    "returns its first argument": "return args[0]",
    "returns all its arguments": "return args, options",
    "returns an empty dict": "return {}",
    "returns True": "return True",
    "returns one valid answer": "return {**ANSWER, 'attempts': 1, 'tool_calls': 0, 'fallback': False, **REPORT}",
    "always falls back": "return {**FALLBACK, **REPORT}",
}
ONE_ANSWER = """
ANSWER = {"category": "delivery", "priority": 3, "summary": "Parcel stuck at depot", "needs_human": False}
FALLBACK = {"category": None, "priority": None, "summary": "", "needs_human": True, "attempts": 2, "tool_calls": 0, "fallback": True}
REPORT = {"total": 7, "correct": 4, "fallbacks": 1, "schema_valid": 6, "accuracy": 0.571, "failures": []}
"""
EXACT = """
    def parse_triage(raw, categories):
        return dict(ANSWER)

    def run_tool_call(call, tools):
        return "hours", None

    def triage(*args, **options):
        return {**ANSWER, "attempts": 1, "tool_calls": 0, "fallback": False}

    def evaluate(*args, **options):
        return REPORT
"""


def trivial(body):
    """Return a submission whose four functions have this body."""
    functions = [f"def {name}(*args, **options):\n    {body}\n" for name in frame.FUNCTIONS]
    return frame.framed("\n\n".join([ONE_ANSWER, *functions]))


def exact():
    """Return a submission whose functions give one answer each, of the right shape."""
    return frame.framed(ONE_ANSWER + re.sub(r"(?m)^    ", "", EXACT))


def title(path):
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()[0]


def isolated(path):
    return frame.graded(path.stem, frame.framed(path.read_text(encoding="utf-8")))


def here(path):
    return frame.graded_here(path.stem, frame.framed(path.read_text(encoding="utf-8")))


def not_passed(marks):
    return [mark for mark in marks if mark.verdict != "passed"]


def complaint(path, marks):
    """Return what is wrong with the refusal of a wrong submission, or None."""
    clause = title(path).partition(":")[0]
    refusing = not_passed(marks)
    names = ", ".join(mark.name for mark in refusing)
    if not any(clause in mark.sentences for mark in refusing):
        return f"no test that states {clause} refuses it; refused by: {names or 'none'}"
    if len(refusing) > TESTS_THAT_REFUSE:
        return f"{len(refusing)} tests refuse it: {names}"
    row = refusing[0].failures[0]
    missing = [field for field in ("clause", "call", "expected", "got") if not row.get(field)]
    if missing:
        return f"the first failing row of {refusing[0].name} does not tell {', '.join(missing)}: {row}"
    if row["clause"] not in refusing[0].sentences:
        return f"the first failing row is of {row['clause']}, and {refusing[0].name} does not state that"
    return None


class RightAndWrong(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.right = sorted(HERE.glob("right/*.py"))
        cls.wrong = sorted(HERE.glob("wrong/*.py"))
        cls.pool = ProcessPoolExecutor(2)

    @classmethod
    def tearDownClass(cls):
        cls.pool.shutdown()

    def test_every_right_solution_passes_all_fifteen(self):
        self.assertGreaterEqual(len(self.right), 14)
        for path, marks in zip(self.right, self.pool.map(isolated, self.right)):
            with self.subTest(right=path.name, style=title(path)):
                self.assertEqual(len(marks), 15)
                self.assertEqual([(mark.name, mark.failures) for mark in not_passed(marks)], [])

    def test_every_wrong_solution_is_refused_by_the_test_of_its_clause(self):
        self.assertGreaterEqual(len(self.wrong), 80)
        for path, marks in zip(self.wrong, self.pool.map(here, self.wrong, chunksize=8)):
            with self.subTest(wrong=path.name, mistake=title(path)):
                self.assertEqual(len(marks), 15)
                self.assertIsNone(complaint(path, marks))

    def test_in_a_worker_the_refusal_is_the_same(self):
        sample = self.wrong[::20]
        for path, marks in zip(sample, self.pool.map(isolated, sample)):
            with self.subTest(wrong=path.name, mistake=title(path)):
                self.assertIsNone(complaint(path, marks))

    def test_every_clause_has_a_wrong_solution(self):
        clauses = [title(path).partition(":")[0] for path in self.wrong]
        self.assertEqual(sorted(set(clauses)), sorted(CONTRACT))
        for path, clause in zip(self.wrong, clauses):
            with self.subTest(wrong=path.name):
                self.assertTrue(path.name.startswith(clause.lower() + "_"), "its name begins with the clause")

    def test_nothing_trivial_passes_a_test(self):
        texts = {**{name: trivial(body) for name, body in TRIVIAL.items()}, "gives one answer of the right shape": exact()}
        names = [re.sub(r"\W", "_", name) for name in texts]
        for name, marks in zip(texts, self.pool.map(frame.graded, names, texts.values())):
            with self.subTest(trivial=name):
                self.assertEqual(len(marks), 15)
                self.assertEqual([mark.name for mark in marks if mark.verdict == "passed"], [])

    def test_this_file_can_fail(self):
        """The solution is no wrong solution, a part that replaces nothing is none, and each complaint is made."""
        solution = frame.SOLUTION.read_text(encoding="utf-8")
        marks = frame.graded_here("solution", solution)
        self.assertEqual(not_passed(marks), [])
        self.assertIn("refused by: none", complaint(HERE / "wrong" / "p5_isinstance.py", marks))
        with self.assertRaises(ValueError):
            frame.framed("def no_such_name():\n    pass\n")
        broken = frame.graded_here("broken", frame.framed("def parse_triage(raw, categories):\n    return {}\n"))
        self.assertIn("tests refuse it", complaint(HERE / "wrong" / "p5_isinstance.py", broken))
        self.assertIn("no test that states E3", complaint(HERE / "wrong" / "e3_index.py", broken[:6]))


if __name__ == "__main__":
    unittest.main()
