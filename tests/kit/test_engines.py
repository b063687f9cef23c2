"""A class of thirty through engines that exist: ssh and Slurm. What happens to a job or a connection costs nobody a grade."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from engines import START_LIMIT, Slurm, Sshd, ran
from kit import KIT, wait_until

CLASS = 30
LIMIT = "20"  # seconds for each test: a job shares its core with many here


def class_of(folder, count=CLASS):
    """Make a class in a folder: right submissions, a starter, and one that never ends. Return who passes how many."""
    expected = {}
    for number in range(1, count + 1):
        place, room = folder / f"student{number:02}", "starter" if number == 9 else "solution"
        place.mkdir(parents=True)
        shutil.copy(KIT / room / "ticket_triage.py", place)
        expected[place.name] = 15 if room == "solution" else 0
    if count > 7:
        (folder / "student07" / "ticket_triage.py").write_text("while True: pass\n", encoding="utf-8")
        expected["student07"] = 0
    return expected


@unittest.skipIf(os.environ.get("KIT_ENGINES") == "no", "KIT_ENGINES=no: once is enough for all Pythons")
class EngineTest(unittest.TestCase):
    engine = None

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def grade(self, count=CLASS, jobs=15, meanwhile=None, timeout=LIMIT):
        """Grade a class through the engine; return {name: passed} of the result, and what was expected of it.

        meanwhile(process) is called while the class is being graded.
        """
        expected = class_of(self.folder / "class", count)
        result = self.folder / "result.json"
        words = [sys.executable, "verify.py", str(self.folder / "class"), "--jobs", str(jobs), "--timeout", timeout, "--exec", self.engine.prefix]
        process = subprocess.Popen([*words, "--json", str(result)], cwd=KIT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reader = threading.Thread(target=meanwhile, args=[process]) if meanwhile else None
        if reader:
            reader.start()
        out, err = process.communicate(timeout=400)
        if reader:
            reader.join()
        self.assertTrue(result.exists(), err.decode("utf-8", "replace"))
        entries = json.loads(result.read_text(encoding="utf-8"))["submissions"]
        failures = {entry["name"]: [mark["failure"] for mark in entry["marks"] if mark["failure"]][:1] for entry in entries}
        self.reasons = {entry["name"]: entry["reason"] or failures[entry["name"]] for entry in entries if entry["passed"] < expected[entry["name"]]}
        return {entry["name"]: entry["passed"] for entry in entries}, expected


class SshTest(EngineTest):
    @classmethod
    def setUpClass(cls):
        cls.engine = Sshd()
        cls.addClassCleanup(cls.engine.end)

    def test_a_class_of_thirty_is_graded_through_ssh_and_nothing_stays(self):
        passed, expected = self.grade()
        self.assertEqual(passed, expected, self.reasons)
        self.assertTrue(wait_until(lambda: not self.engine.connections(), START_LIMIT), "a connection stays")

    def test_a_connection_that_drops_costs_nobody_a_grade(self):
        dropped = []

        def drop(process):
            while process.poll() is None and len(dropped) < 3:
                wait_until(lambda: process.poll() is not None or len(self.engine.connections()) > 1, 30)
                for number in self.engine.connections()[:1]:
                    for child in [number, *map(int, ran("pgrep", "-P", str(number)).stdout.split())]:
                        try:
                            os.kill(child, signal.SIGKILL)
                            dropped.append(child)
                        except ProcessLookupError:
                            pass

        passed, expected = self.grade(10, 5, drop, "5")
        self.assertGreater(len(dropped), 2)
        self.assertEqual(passed, expected, self.reasons)
        self.assertTrue(wait_until(lambda: not self.engine.connections(), START_LIMIT), "a connection stays")


class SlurmTest(EngineTest):
    @classmethod
    def setUpClass(cls):
        cls.engine = Slurm()
        cls.addClassCleanup(cls.engine.end)

    def nothing_stays(self):
        self.assertTrue(wait_until(lambda: not self.engine.jobs(), START_LIMIT), ran("squeue").stdout)

    def test_a_class_of_thirty_is_graded_through_slurm_and_nothing_stays(self):
        passed, expected = self.grade()
        self.assertEqual(passed, expected, self.reasons)
        self.nothing_stays()

    def test_a_job_that_is_cancelled_costs_nobody_a_grade(self):
        cancelled = []

        def cancel(process):
            while process.poll() is None and len(cancelled) < 3:
                if wait_until(lambda: process.poll() is not None or len(self.engine.jobs()) > 1, 30):
                    cancelled.extend(self.engine.jobs()[:1])
                    ran("scancel", *cancelled[-1:])

        passed, expected = self.grade(10, 5, cancel, "5")
        self.assertEqual(len(cancelled), 3)
        self.assertEqual(passed, expected, self.reasons)
        self.nothing_stays()

    def test_a_full_queue_costs_nobody_a_grade(self):
        """Somebody else's job has the whole node for some seconds: workers wait for it and are not told to be late."""
        blocker = subprocess.Popen(["srun", "--exclusive", "--overcommit", "sleep", "6"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(wait_until(self.engine.jobs, START_LIMIT))
        passed, expected = self.grade(4, 2, timeout="5")
        self.assertEqual(blocker.wait(), 0)
        self.assertEqual(passed, expected, self.reasons)
        self.nothing_stays()


class FullSlurmTest(EngineTest):
    @classmethod
    def setUpClass(cls):
        cls.engine = Slurm(jobs=4)
        cls.addClassCleanup(cls.engine.end)

    def test_a_controller_that_takes_no_more_jobs_costs_nobody_a_grade(self):
        """It refuses a job at once; who was refused is graded again at the end, alone."""
        passed, expected = self.grade(8, 6, timeout="5")
        self.assertEqual(passed, expected, self.reasons)


if __name__ == "__main__":
    unittest.main()
