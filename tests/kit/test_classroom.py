"""What an instructor types and sees: a class in one command, side by side, interrupted, resumed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from kit import KIT, imported, run

from grader import cohort
from grader.line.process import NOT_STARTED, Limits
from grader.intake.targets import find_class
from test_hostile import left_processes

SOLUTION = (KIT / "solution" / "ticket_triage.py").read_text(encoding="utf-8")
STARTER = (KIT / "starter" / "ticket_triage.py").read_text(encoding="utf-8")
TRUSTING = SOLUTION.replace("type(priority) is not int or ", "")  # P5
CUTTING = SOLUTION.replace("not 1 <= len(summary.strip()) <= SUMMARY_LIMIT", "not summary.strip()")  # P6
EVE = "eve <script>" if os.name != "nt" else "eve &lt;script $(x)"  # Windows allows fewer characters
NAMES = {
    "anna": SOLUTION,
    "björn/starter": TRUSTING,
    "chloé de la cruz_4711_assignsubmission_file_": CUTTING,
    "dmitri_lee_123_ticket_triage.py": TRUSTING,
    "王小明_9_ticket_triage-1.py": SOLUTION,
    EVE: "def parse_triage(:\n",
    "fay": STARTER,
}


def wait_for(path, seconds=60):
    """Wait until a file is there."""
    end = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > end:
            raise AssertionError(f"{path.name} did not come in {seconds} s")
        time.sleep(0.05)


REALLY_GRADE = cohort.grade_one


def not_started_at_first(name, place, limits, lab, workers=None):
    """Grade one; the first time it is bad's turn no processes are left."""
    tried = place.with_name("tried")
    if name != "bad" or tried.exists():
        return REALLY_GRADE(name, place, limits, lab, workers)
    tried.touch()
    return cohort.lost_entry(name, lab, f"{NOT_STARTED}: Resource temporarily unavailable")


class Classroom(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-class-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.work = self.folder / "submissions"
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        for name, text in NAMES.items():
            self.submit(name, text)
        (self.work / "gil").mkdir()
        (self.work / "gil" / "answer.docx").write_bytes(b"PK")
        (self.work / ".git").mkdir()

    def submit(self, name, text):
        path = self.work / name if name.endswith(".py") else self.work / name / "ticket_triage.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def grade(self, *arguments, said=""):
        places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temporary))
        done = run(KIT / "verify.py", self.work, "--json", self.folder / "result.json", *arguments, env=places)
        self.assertEqual(done.stderr, said)
        self.assertEqual(list(self.temporary.iterdir()), [])
        return done, json.loads((self.folder / "result.json").read_text(encoding="utf-8"))

    def test_every_kind_of_submission_is_found_in_the_order_of_names(self):
        found = [each.name for each in find_class(self.work, "ticket_triage")[0]]
        self.assertEqual(found, ["anna", "björn", "chloé de la cruz", "dmitri_lee", EVE, "fay", "gil", "王小明"])

    def test_a_class_is_graded_as_each_one_alone(self):
        done, result = self.grade("--jobs", "2")
        self.assertEqual(done.returncode, 1)
        points = {entry["name"]: (entry["passed"], entry["first_failing"]) for entry in result["submissions"]}
        self.assertEqual(points, {
            "anna": (15, None),
            "björn": (14, "P5"),
            "chloé de la cruz": (14, "P6"),
            "dmitri_lee": (14, "P5"),
            EVE: (0, None),
            "fay": (0, "P1"),
            "gil": (0, None),
            "王小明": (15, None),
        })
        self.assertTrue(result["complete"])
        for part in ("8 submissions, 2 with all 15, mean 9.0 of 15", "Clauses that fail most: P5 (2), P6 (1)", "SyntaxError"):
            self.assertIn(part, done.stdout)
        serial = self.grade("--jobs", "1", "--seed", result["seed"])[0]
        self.assertEqual(serial.stdout, done.stdout)

    def test_a_class_draws_one_seed_for_all_and_names_it(self):
        for name in ("ida", "jon"):
            self.submit(name, SOLUTION.replace("    return _checked(_decode(raw), categories)", "    print(categories)\n    return _checked(_decode(raw), categories)"))
        done, result = self.grade()
        self.assertIn(f"--seed {result['seed']} repeats this", done.stdout.splitlines()[-1])
        self.assertGreater(result["seed"], 0)
        page = self.folder / "page.html"
        _, again = self.grade("--resume", self.folder / "result.json", "--html", page)
        self.assertEqual(again["seed"], result["seed"], "a run that goes on keeps its seed")
        self.assertIn(f"seed {result['seed']}", page.read_text(encoding="utf-8"))
        printed = {entry["name"]: entry["marks"][0]["printed"].splitlines()[0] for entry in result["submissions"] if entry["name"] in ("ida", "jon")}
        self.assertEqual(printed["ida"], printed["jon"])
        self.assertNotIn("delivery", printed["ida"])
        self.assertNotEqual(self.grade()[1]["seed"], result["seed"])
        self.assertEqual(self.grade("--seed", "0")[1]["seed"], 0)

    def test_exit_0_when_everyone_passes_and_several_targets(self):
        done = run(KIT / "verify.py", KIT / "solution", self.work / "anna")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run(KIT / "verify.py", KIT / "solution", KIT / "starter").returncode, 1)

    def test_resume_grades_what_is_new_or_changed(self):
        self.grade()
        known = self.folder / "known.json"
        result = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        for entry in result["submissions"]:
            entry["seconds"] = 99.0  # what is taken over keeps this mark
        known.write_text(json.dumps(result), encoding="utf-8")
        self.submit("björn/starter", SOLUTION)
        self.submit("hal", TRUSTING)
        _, again = self.grade("--resume", known)
        graded = {entry["name"]: entry["passed"] for entry in again["submissions"] if entry["seconds"] != 99.0}
        self.assertEqual(graded, {"björn": 15, EVE: 0, "gil": 0, "hal": 14})
        self.assertEqual(len(again["submissions"]), 9)
        other = f"--resume {known}: another kit, another seed or other limits made that result, so all are graded again\n"
        for changed in ({"kit": "other tests"}, {"limits": {**result["limits"], "seconds": 1.0}}, {"seed": result["seed"] - 1}):
            known.write_text(json.dumps({**result, **changed}), encoding="utf-8")
            _, again = self.grade("--resume", known, "--seed", result["seed"], said=other)
            self.assertEqual([entry["name"] for entry in again["submissions"] if entry["seconds"] == 99.0], [])

    def test_two_of_one_name_get_a_grade_each(self):
        self.submit("group/anna", STARTER)
        for jobs in ("1", "2"):
            done = run(KIT / "verify.py", self.work / "anna", self.work / "group" / "anna", "--jobs", jobs)
            points = [line.split(" of 15")[0].rsplit(" ", 1)[-1] for line in done.stdout.splitlines()[:2]]
            self.assertEqual((points, done.returncode), (["15", "0"], 1))

    @unittest.skipIf(os.name == "nt", "os.getppid() is of no use there")
    def test_one_that_ends_its_grader_costs_nobody_else_a_grade(self):
        for name, number in (("killer", "SIGKILL"), ("stopper", "SIGSTOP")):
            self.submit(name, f"import os, signal, time\nos.kill(os.getppid(), signal.{number})\ntime.sleep(99)\n" + SOLUTION)
        _, result = self.grade("--jobs", "2", "--no-sandbox")
        points = {entry["name"]: (entry["passed"], entry["reason"]) for entry in result["submissions"]}
        self.assertEqual(points["killer"], (0, "it ended the process that grades it"))
        self.assertEqual(points["stopper"], (0, "it did not load within 5 s (line 3)"))
        self.assertEqual((points["anna"], points["王小明"], len(points)), ((15, None), (15, None), 10))
        self.assertEqual(left_processes(str(self.temporary)), [])

    def test_a_worker_that_could_not_be_started_is_tried_once_more(self):
        self.addCleanup(sys.modules.__setitem__, "ticket_triage", imported("ticket_triage"))  # a stand-in comes there
        submissions = [(name, self.work / folder / "ticket_triage.py") for name, folder in (("bad", "anna"), ("fay", "fay"))]
        with mock.patch("grader.cohort.grade_one", not_started_at_first):
            result = cohort.grade_class(submissions, Limits(30.0), 2, "ticket_triage")
        self.assertEqual([(entry["name"], entry["passed"], entry["reason"]) for entry in result["submissions"]], [("bad", 15, None), ("fay", 0, None)])
        self.assertTrue((self.work / "anna" / "tried").exists())

    def test_what_is_no_submission_and_what_is_several_is_told(self):
        for name in ("notes.txt", "ivy_1_ticket_triage.py.txt"):
            (self.work / name).write_text("x", encoding="utf-8")
        for name in ("two/v1", "two/v2", "whole/kit/starter", "whole/kit/solution", "whole/__MACOSX"):
            self.submit(name, SOLUTION if name.endswith("starter") else STARTER)
        self.submit("jo_2_ticket_triage (1).py", SOLUTION)
        done, result = self.grade()
        rows = {entry["name"]: (entry["passed"], entry["reason"]) for entry in result["submissions"]}
        expected = "2 files are there (v1/ticket_triage.py, v2/ticket_triage.py): one is expected"
        self.assertEqual((rows["two"], rows["whole"], rows["jo"]), ((0, expected), (15, None), (15, None)))
        self.assertEqual(rows["ivy"], (0, "it holds only ticket_triage.py.txt: name it .py"))
        self.assertEqual(result["left_out"], ["notes.txt"])
        self.assertIn("Skipped (not submissions): 1 (notes.txt)", done.stdout)

    def test_wrong_use_is_told_before_anything_is_graded(self):
        rows = [
            (["--json", self.folder / "none" / "r.json"], "its folder is missing"),
            (["--csv", self.folder], "this is a folder"),
            (["--csv", ""], "a file of its own"),
            (["--csv", "x.txt", "--html", "x.txt"], "a file of its own"),
            (["--html", self.work / "dmitri_lee_123_ticket_triage.py"], "not a Python file"),
            ([KIT / "solution", "--gradescope", self.folder / "r.json"], "one submission"),
            (["--resume", self.folder / "none.json"], "none.json"),
            (["--hint"], "--hint is for one submission"),
            (["-k", "P5"], "-k is for one submission"),
            (["--reset"], "--reset"),
            (["--jobs", "0.5"], "--jobs"),
            (["--exec", "it's"], "--exec it's"),
            (["--exec", "no-such-sandbox -x"], "no-such-sandbox"),
        ]
        for arguments, named in rows:
            with self.subTest(arguments=arguments):
                done = run(KIT / "verify.py", self.work, *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(named, done.stderr)
        self.assertTrue((self.work / "anna" / "ticket_triage.py").read_text(encoding="utf-8") == SOLUTION)

    @unittest.skipIf(os.name == "nt", "a signal to one process needs a POSIX system")
    def test_ctrl_c_writes_what_is_done_and_says_what_is_missing(self):
        started = self.folder / "started"
        slow = f"import time\nopen({str(started)!r}, 'w', encoding='utf-8').close()\ntime.sleep(4)\n"
        for number in range(6):
            self.submit(f"zz_{number}", slow + SOLUTION)
        result = self.folder / "result.json"
        command = [sys.executable, str(KIT / "verify.py"), str(self.work), "--jobs", "2", "--timeout", "20", "--no-sandbox", "--json", str(result)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        wait_for(started)  # the first slow one runs, those before it are graded or nearly so, and those behind it wait
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err.strip()), (130, "Stopping: waiting for 2. Ctrl-C again drops them."))
        written = json.loads(result.read_text(encoding="utf-8"))
        self.assertFalse(written["complete"])
        self.assertEqual(written["missing"][-1], "王小明")
        self.assertIn("anna", [entry["name"] for entry in written["submissions"]])
        self.assertIn(f"Not graded: {len(written['missing'])}", out)


@unittest.skipIf(os.name == "nt", "a signal to one process needs a POSIX system")
class Stopped(unittest.TestCase):
    """A class whose grading is ended from outside."""

    setUp, submit = Classroom.setUp, Classroom.submit

    def start(self, *arguments, slow=2.0):
        """Begin to grade a class of which the last two are slow; return the process once the first of these runs."""
        started = self.folder / "started"
        started.unlink(missing_ok=True)
        for number in range(2):
            self.submit(f"zz_{number}", f"import time\nopen({str(started)!r}, 'w', encoding='utf-8').close()\ntime.sleep({slow})\n" + SOLUTION)
        command = [sys.executable, str(KIT / "verify.py"), str(self.work), "--jobs", "2", "--timeout", "20", "--no-sandbox", "--json", str(self.folder / "r.json")]
        places = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temporary))}
        process = subprocess.Popen([*command, *arguments], env=places, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True)
        wait_for(started)
        return process

    def nothing_left(self):
        """Fail unless, within a second, no process and no folder of the grading is left."""
        end = time.monotonic() + 5
        while (left_processes(str(self.temporary)) or list(self.temporary.iterdir())) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual((left_processes(str(self.temporary)), list(self.temporary.iterdir())), ([], []))

    def test_a_signal_writes_what_is_done(self):
        """Also one to the whole group, as a scheduler or a terminal sends it; what runs gets a few seconds."""
        for name, code in (("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)):
            for send in (os.kill, os.killpg):
                with self.subTest(signal=name, send=send.__name__):
                    process = self.start()
                    send(process.pid, getattr(signal, name))
                    out, err = process.communicate(timeout=60)
                    result = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
                    done = [entry["name"] for entry in result["submissions"]]
                    self.assertEqual((process.returncode, result["complete"]), (code, False), err)
                    self.assertIn("zz_0", done)  # it ran, and was waited for
                    self.assertRegex(err, "^\nStopping: waiting (5 s )?for [12]")
                    self.assertFalse((self.folder / "r.kept").exists())
                    self.nothing_left()

    def test_one_submission_alone_leaves_nothing_either(self):
        """Whatever signal ends the grader while the submission, and what it has started, goes on."""
        started = self.folder / "started"
        own = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'while True: pass'], start_new_session=True)\n"
        self.submit("loop", f"{own}open({str(started)!r}, 'w', encoding='utf-8').close()\nwhile True:\n    pass\n")
        places = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temporary))}
        for name, code in (("SIGKILL", -9), ("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)):
            with self.subTest(signal=name):
                started.unlink(missing_ok=True)
                command = [sys.executable, str(KIT / "verify.py"), str(self.work / "loop"), "--timeout", "60", "--no-sandbox"]
                process = subprocess.Popen(command, env=places, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
                wait_for(started)
                process.send_signal(getattr(signal, name))
                out, _ = process.communicate(timeout=60)
                self.assertEqual((process.returncode, "Traceback" in out), (code, False), out)
                self.nothing_left()

    def test_what_runs_longer_than_a_scheduler_waits_is_dropped(self):
        process = self.start(slow=15.0)
        begun = time.monotonic()
        process.terminate()
        process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begun, 12)
        result = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual((process.returncode, result["complete"], "zz_0" in result["missing"]), (143, False, True))
        self.assertIn("anna", [entry["name"] for entry in result["submissions"]])
        self.nothing_left()

    def test_a_kill_loses_nothing_that_was_graded(self):
        """It is kept beside the result, is not overwritten unasked, and --resume goes on from it."""
        process = self.start(slow=15.0)
        process.kill()
        process.communicate(timeout=60)
        self.nothing_left()
        kept = (self.folder / "r.kept").read_text(encoding="utf-8").splitlines()
        graded = {json.loads(line)["name"] for line in kept[1:]}
        self.assertIn("anna", graded)
        again = [KIT / "verify.py", self.work, "--jobs", "2", "--timeout", "20", "--no-sandbox", "--json", self.folder / "r.json"]
        done = run(*again)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
        self.assertIn("--resume", done.stderr)
        for number in range(2):
            self.submit(f"zz_{number}", STARTER)
        marked = [line if not number else json.dumps({**json.loads(line), "seconds": 99.0}) for number, line in enumerate(kept)]
        cut_short = kept[1][:100]  # as a kill leaves the last line
        (self.folder / "r.kept").write_text("\n".join([*marked, cut_short]), encoding="utf-8")
        done = run(*again, "--resume", self.folder / "r.json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        result = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        taken = {entry["name"] for entry in result["submissions"] if entry["seconds"] == 99.0}
        self.assertEqual(taken, {name for name in graded if name not in (EVE, "gil", "zz_0", "zz_1")})
        self.assertEqual((result["complete"], len(result["submissions"])), (True, len(NAMES) + 3))
        self.assertFalse((self.folder / "r.kept").exists())


class Autograder(unittest.TestCase):
    """The zip for Gradescope, unpacked and laid out as Gradescope does."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-autograder-"))
        self.addCleanup(shutil.rmtree, self.folder)
        archive = self.folder / "autograder.zip"
        self.assertEqual(run(KIT / "verify.py", "--make-autograder", archive).returncode, 0)
        with zipfile.ZipFile(archive) as content:
            names = content.namelist()
            content.extractall(self.folder / "source")
        self.assertTrue({"setup.sh", "run_autograder", "verify.py"} <= set(names))
        self.assertFalse([name for name in names if name.startswith(("solution/", "starter/", "tests/kit/"))])
        (self.folder / "submission").mkdir()

    def grade(self):
        environment = {**os.environ, "AUTOGRADER_ROOT": str(self.folder)}
        done = subprocess.run(["bash", self.folder / "source" / "run_autograder"], env=environment, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0)
        return json.loads((self.folder / "results" / "results.json").read_text(encoding="utf-8"))

    @unittest.skipUnless(os.name == "posix" and shutil.which("bash"), "Gradescope's machines have bash, this one has not")
    def test_it_grades_what_was_handed_in(self):
        rows = [("a right solution", SOLUTION, 15), ("a wrong one", TRUSTING, 14), ("one that does not load", "def x(:", 0)]
        for what, text, points in rows:
            with self.subTest(what=what):
                (self.folder / "submission" / "ticket_triage.py").write_text(text, encoding="utf-8")
                result = self.grade()
                self.assertEqual(sum(test["score"] for test in result["tests"]), points)
                self.assertEqual(sum(test["max_score"] for test in result["tests"]), 15)

    @unittest.skipUnless(os.name == "posix" and shutil.which("bash"), "Gradescope's machines have bash, this one has not")
    def test_a_submission_without_the_file_gets_a_result_too(self):
        (self.folder / "submission" / "essay.txt").write_text("done", encoding="utf-8")
        result = self.grade()
        self.assertEqual(sum(test["score"] for test in result["tests"]) + result.get("score", 0), 0)
        self.assertIn("it holds only essay.txt: name it .py", result["output"])


if __name__ == "__main__":
    unittest.main()
