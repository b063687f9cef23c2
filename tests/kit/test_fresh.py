"""Answers that are written into a submission answer nothing where the names and numbers of the tests are fresh."""

import unittest

import frame
import recording
from kit import solution_of

LAB = "ticket_triage"
SEEDS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99, 1234, 27182, 31415, 57721, 141421, 161803, 271828, 500000, 999999)


def passed(text, seed):
    return [mark.name for mark in frame.graded_here(LAB, text, seed) if mark.verdict == "passed"]


def said(failure):
    return failure.clause, failure.because, failure.hint


class WrittenIn(unittest.TestCase):
    def test_a_table_of_answers_wins_at_seed_0_and_nothing_at_any_other(self):
        text = recording.with_answers_written_in()
        self.assertEqual(len(passed(text, 0)), 15)
        self.assertEqual([(mark.name, mark.failures) for mark in frame.graded(LAB, text) if mark.verdict != "passed"], [])
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.assertEqual(passed(text, seed), [])

    def test_the_solution_passes_at_each(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.assertEqual(len(passed(solution_of(LAB), seed)), 15)

    def test_hints_and_reasons_do_not_depend_on_the_seed(self):
        broken = frame.framed(LAB, "def parse_triage(raw, categories):\n    return {}\n")
        told = [
            [(mark.hints, {said(failure) for failure in mark.failures if failure.clause == "P1"}) for mark in marks]
            for marks in (frame.graded_here(LAB, broken, seed) for seed in (0, 7))
        ]  # how many edits there are depends on it
        self.assertEqual(*told)


if __name__ == "__main__":
    unittest.main()
