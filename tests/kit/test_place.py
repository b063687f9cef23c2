"""A place that does not suit, and texts that break what shows them: one line and exit code 2, or it works."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kit import KIT, run, solution_of

from grader import cohort, grading, place
from grader.intake.targets import find_targets
from grader.line.process import Limits
from grader.text import LINE_LIMIT, look_of, shortened, visible

VERIFY = str(KIT / "verify.py")
CLOSED = "import os, sys\nfor number in map(int, sys.argv[1]): os.close(number)\nos.execv(sys.executable, [sys.executable, *sys.argv[2:]])"


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-place-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def refused(self, done, named):
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        self.assertIn(named, done.stderr)


@unittest.skipIf(os.name == "nt", "descriptors are closed as a POSIX shell does it")
class Streams(WithFolder):
    def test_whatever_is_closed_the_class_is_graded(self):
        """The reports are written, and the exit code tells the verdict."""
        for number, closed in enumerate(("0", "1", "2", "12", "012")):
            report = self.folder / f"{number}.csv"
            for arguments, code in ((["solution", "starter", "--csv", report], 1), (["solution"], 0), (["solution", "--csv", report, "--jobs", "1"], 0)):
                with self.subTest(closed=closed, arguments=arguments):
                    done = run("-c", CLOSED, closed, VERIFY, *arguments)
                    self.assertEqual((done.returncode, done.stderr), (code, ""))
                    self.assertEqual("15 of 15" in done.stdout, "1" not in closed)
            self.assertEqual(len(report.read_text(encoding="utf-8").splitlines()), 2)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no full device here")
    def test_output_that_cannot_be_written_costs_no_report(self):
        """And is an error of its own, exit code 2; who stops reading is none."""
        for arguments in (["solution", "starter"], ["solution"], ["solution", "-q"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w", encoding="utf-8") as full:
                wanted = ["--csv", self.folder / "r.csv"] if "-q" not in arguments else []
                done = run(VERIFY, *arguments, *wanted, stdout=full, stderr=-1, capture_output=False)
                self.assertEqual((done.returncode, done.stderr), (2, "verify.py: the output cannot be written: No space left on device\n"))
                self.assertEqual((self.folder / "r.csv").exists(), bool(wanted))
                (self.folder / "r.csv").unlink(missing_ok=True)
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assertEqual(run(VERIFY, "nowhere", stdout=-1, stderr=full, capture_output=False).returncode, 2)
        gone, end = os.pipe()
        os.close(gone)
        done = run(VERIFY, "solution", "--csv", self.folder / "r.csv", stdout=end, stderr=-1, capture_output=False)
        os.close(end)
        self.assertEqual((done.returncode, done.stderr, (self.folder / "r.csv").exists()), (0, "", True))


class Place(WithFolder):
    def test_a_kit_that_is_not_whole_grades_nobody(self):
        """Without what was handed out a right submission would fail; TASK.md in another encoding costs the way to the next lab only."""
        copy = self.folder / "kit"
        shutil.copytree(KIT / "tests", copy / "tests", ignore=shutil.ignore_patterns("kit", "__pycache__"))
        (copy / "starter").mkdir()
        shutil.copy(KIT / "verify.py", copy)
        shutil.copy(KIT / "solution" / "ticket_triage.py", copy / "starter")
        originals = copy / "tests" / "grader" / "intake" / "originals.json"
        text = originals.read_text(encoding="utf-8")
        (copy / "TASK.md").write_text("(scenario/judge/TASK.md)", encoding="utf-16")
        done = run(copy / "verify.py", "starter", "--timeout", "30", cwd=copy)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for content in (None, "", text[:1000], "[]", '{"starter": {}}', "[" * 100_000):
            originals.unlink() if content is None else originals.write_text(content, encoding="utf-8")
            for arguments in (["starter"], [copy / "starter", KIT / "solution", "--json", self.folder / "r.json"], ["--make-handout", self.folder / "h.zip"]):
                with self.subTest(content=(content or "")[:20], arguments=arguments):
                    self.refused(run(copy / "verify.py", *arguments, cwd=copy), "this kit is damaged, get it anew")
            originals.write_text(text, encoding="utf-8")
        self.assertEqual(sorted(os.listdir(self.folder)), ["kit"])

    def test_a_fault_of_the_grader_is_told_as_its_own(self):
        """It costs neither another submission its grade, nor is it said of the submission in which it is met."""
        places = []
        for name in ("anna", "bo", "cy"):
            (self.folder / name).mkdir()
            places.append(Path(shutil.copy(KIT / "solution" / "ticket_triage.py", self.folder / name)))

        def breaks(path, *given):
            if path == places[1]:
                raise KeyError("what nobody thought of")
            return grading.grade(path, *given)

        with mock.patch.object(cohort, "grade", breaks):
            entry = cohort.grade_one("bo", places[1], Limits(30.0), "ticket_triage")
            self.assertRegex(entry["reason"], r"^the grader has a fault, which it met here: KeyError: .*test_place.py, line \d+\)$")
            if cohort.CONTEXT.get_start_method() == "fork":
                result = cohort.grade_class([(path.parent.name, path) for path in places], Limits(30.0), 2, "ticket_triage")
                self.assertEqual([each["passed"] for each in result["submissions"]], [15, 0, 15])
                self.assertEqual([each["reason"] for each in result["submissions"]], [None, entry["reason"], None])

    def test_an_interpreter_without_docstrings_is_refused(self):
        self.refused(run("-OO", VERIFY, "solution"), "docstrings")
        self.refused(run(VERIFY, "solution", env={"PYTHONOPTIMIZE": "2"}), "docstrings")
        self.assertEqual(run("-O", VERIFY, "solution").returncode, 0)

    def test_no_room_for_temporary_files_is_told_before_anything_is_graded(self):
        """Or when it is gone while somebody is graded: it is never told as the submission's own."""
        full = mock.patch("tempfile.TemporaryFile", side_effect=OSError(28, "No space left on device"))
        with full, self.assertRaisesRegex(place.PlaceError, "^no temporary files can be written .No space left on device.: "):
            place.check_room()
        path = KIT / "solution" / "ticket_triage.py"
        lost = {**cohort.lost_entry("anna", "ticket_triage", None), "reason": "it does not load: OSError: [Errno 28] No space left on device"}
        for count in (1, 3):
            with full, mock.patch("grader.cohort.grade_one", lambda *_: lost):
                stop = cohort.Stop()
                result = cohort.grade_class([(f"s{number}", path) for number in range(count)], Limits(), 2, "ticket_triage", stop=stop)
            self.assertEqual((result["submissions"], len(result["missing"]), result["complete"]), ([], count, False))
            self.assertIn("No space left on device", stop.fault)

    def test_what_the_place_may_have_done_is_told_from_the_rest(self):
        def entry(reason=None, **failure):
            blank = {"reason": None, "got": None}
            return {"reason": reason, "marks": [{"failure": None}, {"failure": {**blank, **failure}}]}

        of_the_place = [
            entry("the worker did not start: Resource temporarily unavailable"), entry("it did not load within 5 s (line 3)"),
            entry(reason=None, got="OSError: [Errno 28] No space left on device: 'x'"), entry(got="MemoryError"), entry("it does not load: MemoryError"),
        ]
        of_its_own = [entry(), entry("it does not load: SyntaxError: x"), entry(got="OSError: [Errno 2] No such file"), entry(got="{'priority': 3}")]
        failures = [{"reason": "it ran longer than 5 s"}, {"reason": "its process ended by itself (signal 9)"}, {"got": "RuntimeError: can't start new thread"}]
        for given in [*of_the_place, *({"reason": None, "marks": [{"failure": {"got": None, "reason": None, **failure}}]} for failure in failures)]:
            self.assertTrue(place.may_be_the_place(given), given)
        for given in [*of_its_own, {"reason": None, "marks": [{"failure": {"got": None, "reason": "its process ended by itself (exit code 0)"}}]}]:
            self.assertFalse(place.may_be_the_place(given), given)

    @unittest.skipIf(os.name == "nt", "the limit is too short for its clock")
    def test_who_is_late_beside_others_is_graded_again_alone(self):
        """That verdict counts: here the first time ends too late, and the second does not."""
        flag = self.folder / "flag"
        for name in ("late", "other"):
            (self.folder / name).mkdir()
            wait = f"import os, time\nif not os.path.exists({str(flag)!r}):\n    open({str(flag)!r}, 'w').close()\n    time.sleep(60)\n" if name == "late" else ""
            (self.folder / name / "ticket_triage.py").write_text(wait + solution_of("ticket_triage"), encoding="utf-8")
        done = run(VERIFY, self.folder / "late", self.folder / "other", "--timeout", "3", "--jobs", "2", "--no-sandbox")
        self.assertEqual((done.returncode, done.stdout.count("15 of 15")), (0, 2), done.stdout)

    def test_a_fault_of_the_program_is_one_line_and_not_a_verdict(self):
        kit = self.folder / "kit"
        shutil.copytree(KIT, kit, ignore=shutil.ignore_patterns("kit", "__pycache__", ".git", "solution"))
        test = kit / "tests" / "test_ticket_triage.py"
        test.write_text(test.read_text(encoding="utf-8").replace('        """P1 ', "        '' \"\"\"P1 ", 1).replace("\nimport json\n", "\nimport json\nraise RuntimeError('a\x1bb')\n", 1), encoding="utf-8")
        self.refused(run(kit / "verify.py", "starter"), "RuntimeError: a\\x1bb (test_ticket_triage.py, line ")


class Texts(WithFolder):
    def test_what_does_not_show_becomes_an_escape(self):
        """Controls, line ends, directions, what has no width or looks like a blank, half characters, no characters."""
        hidden = "\0\t\n\r\x1b\x7f\x85\xa0\xad\u034f\u061c\u115f\u180e\u200b\u200d\u200e\u2028\u202e\u202f\u2060\u2066\u2800\u3164\ufe0f\ufeff\uffa0\ufff9\uffff\ud800\ue000\U000e0020\U000e0100\U0010ffff"
        for char in hidden:
            with self.subTest(char=ascii(char)):
                self.assertEqual(visible(f"a{char}b"), f"a{ascii(char)[1:-1]}b")
        for text in ("a b", "Zażółć", "山田\u3000太郎", "שלום", "नमस्ते", "😀", "e\u0301", "\\x1b"):
            self.assertEqual(visible(text), text)

    def test_every_text_has_a_bound(self):
        for text in ("x" * 10**6, "\0" * 10**6, "\u202e" * 10**6):
            self.assertLess(len(visible(text)), 10 * LINE_LIMIT)
            self.assertIn("1,000,000", visible(text))
        self.assertEqual((shortened("x" * LINE_LIMIT), len(shortened("x" * 100, 40)) < 70), ("x" * LINE_LIMIT, True))

    def test_names_that_look_alike_get_a_number(self):
        """Composed and decomposed letters, letters of another width; what is invisible is an escape already."""
        for one, other in (("Zoë", "Zoe\u0308"), ("ﬁn", "fin"), ("Ａｎｎａ", "Anna")):
            self.assertEqual(look_of(one), look_of(other))
        self.assertNotEqual(look_of("Anna"), look_of("An\u200bna"))
        try:
            for name in ("Zoë", "Zoe\u0308"):
                (self.folder / name).mkdir()
                (self.folder / name / "ticket_triage.py").write_text("x = 1", encoding="utf-8")
        except FileExistsError:
            self.skipTest("this system takes the two for one name")
        names = [each.name for each in find_targets([str(self.folder)], "ticket_triage")[0]]
        self.assertEqual(len(set(map(look_of, names))), 2)

    @unittest.skipIf(os.name == "nt", "Windows allows no such names")
    def test_no_name_reaches_a_terminal_as_it_is(self):
        """Of a target, a submission, a report, a folder; in lines, tables and errors."""
        name = "a\x1b[31m\nb\u202e"
        work = self.folder / name
        (work / name).mkdir(parents=True)
        shutil.copy(KIT / "starter" / "ticket_triage.py", work / name)
        (work / f"{name}.txt").write_text("x", encoding="utf-8")
        rows = [
            [work], [work / name], [work / name, "-q"], [work / "none"], [work / f"{name}.txt"], [work, "--csv", work / name], [work, "--resume", work / name],
            [work, "--json", work / f"{name}.py"], [work, "--html", work / "none" / name], [work / name, "--reset"], [work, "--make-handout", work],
            ["--make-handout", work], ["--make-autograder", work], ["--lab", name], [work, "--exec", name], ["--make-handout", self.folder / f"{name}.zip"],
            [work, "--python", name], [work / name / "ticket_triage.py", "--all", "--hint"], [work / name, "-k", name],
        ]
        for arguments in rows:
            with self.subTest(arguments=[str(word)[-12:] for word in arguments]):
                done = run(VERIFY, *arguments)
                self.assertNotRegex(done.stdout + done.stderr, "[\x1b\u202e]|^b")
                self.assertNotIn("Traceback", done.stderr)
                self.assertLessEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
