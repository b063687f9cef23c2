"""What every lab is held to: each check of check.py finds no fault in any lab, and each check can find one."""

import unittest

import check
import frame
from kit import HERE, LABS, pool, solution_of

ROOMS = ("right", "wrong", "trivial", "hostile", "mutate_survivors")


class Labs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = pool()

    @classmethod
    def tearDownClass(cls):
        cls.pool.shutdown()

    def hold(self, checks, name):
        for lab in LABS:
            with self.subTest(lab=lab):
                self.assertEqual([fault.text for fault in check.faults_of(checks[name], lab, self.pool)], [])

    def test_files(self):
        self.hold(check.FIRST, "files")

    def test_tests(self):
        self.hold(check.FIRST, "tests")

    def test_documents(self):
        self.hold(check.CHECKS, "documents")

    def test_starter(self):
        self.hold(check.CHECKS, "starter")

    def test_every_right_solution_passes_all(self):
        self.hold(check.CHECKS, "right")

    def test_nothing_trivial_passes_a_test(self):
        self.hold(check.CHECKS, "trivial")

    def test_every_wrong_solution_is_refused_by_the_test_of_its_clause(self):
        self.hold(check.CHECKS, "wrong")

    def test_with_other_data_the_refusal_is_the_same(self):
        self.hold(check.CHECKS, "other seeds")

    def test_in_a_worker_the_refusal_is_the_same(self):
        self.hold(check.CHECKS, "in a worker")

    def test_no_check_is_left_out(self):
        self.assertEqual(len({*check.FIRST, *check.CHECKS}), 9)

    def test_every_file_is_of_a_lab(self):
        found = {entry.stem for room in ROOMS for entry in (HERE / room).iterdir() if entry.name != "__pycache__"}
        self.assertEqual(found - set(LABS), set())

    def test_each_complaint_about_a_wrong_solution_is_made(self):
        lab = "ticket_triage"
        marks = frame.graded_here(lab, solution_of(lab))
        self.assertIn("refused by: none", check.complaint("P5", marks))
        with self.assertRaises(ValueError):
            frame.framed(lab, "def no_such_name():\n    pass\n")
        broken = frame.graded_here(lab, frame.framed(lab, "def parse_triage(raw, categories):\n    return {}\n"))
        self.assertIn("tests refuse it", check.complaint("P5", broken))
        self.assertIn("no test that states E3", check.complaint("E3", broken[:6]))


if __name__ == "__main__":
    unittest.main()
