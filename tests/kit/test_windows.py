"""Real Pythons for Windows grade and write reports, run by Wine on Linux; see windows.py.

Without such a Python all is skipped. What Wine lacks and Windows has is said where a test is skipped. Consoles are not
tried: Python writes Unicode to them, whatever their code page. Code pages matter for pipes and files, which are tried.
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest
import xml.etree.ElementTree
import zipfile
from pathlib import Path

import frame
import windows
from kit import KIT, LABS, run, solution_of, wait_until

MAIN = "ticket_triage"
LIMIT = ("--timeout", "60")  # seconds: nothing here is about the speed of Wine
SECONDS = 300  # for a whole run of verify.py
GIVE_UP = 30.0  # seconds in which what is ended has to be gone
PARSE = "def parse_triage(raw, categories):\n"
MARKER = f"kit-on-windows-{os.getpid()}"  # in the command line of what a submission starts
SPAWNS = f"""\
import subprocess, sys
for close in (True, False):  # the second child has the line to the grader too
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", "{MARKER}"], close_fds=close)
"""
READ_ONLY = """\
import os, stat
os.makedirs("a/b")
open("a/b/file", "w").close()
for path in ("a/b/file", "a/b"):
    os.chmod(path, stat.S_IREAD)
"""
PRINTS = """\
import os
print("one\\r\\ntwo \\u00fc")
os.write(1, b"past it\\r\\n")
"""
OPENS_NUL = """\
for name in ("nul", "NUL"):
    with open(name, "w") as file:
        file.write(raw)
"""


def begins_with(body):
    """Return the solution in which the first call of parse_triage begins with a body."""
    source = solution_of(MAIN)
    end = source.index('"""', source.index('"""', source.index(PARSE)) + 3) + 4
    guard = "    if not globals().get('begun'):\n        globals()['begun'] = True\n"
    return source[:end] + guard + textwrap.indent(body, " " * 8) + source[end:]


def started():
    """Return the numbers of the processes that a submission has started and that still run."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", entry, "cmdline").read_bytes()
        except OSError:  # it ended in the meantime
            continue
        if MARKER.encode() in words:
            found.append(int(entry))
    return found


def folders_left():
    """Return the folders of workers that are still there."""
    return sorted(path.name for path in windows.PREFIX.glob("drive_c/users/*/**/Temp/worker-*"))


class OnWindows:
    """The tests, for one version."""

    version = ""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """Keep one program running: else Wine starts its services for each anew."""
        cls.keeper = windows.begun(cls.version, "-c", "import sys; sys.stdin.read()", stdin=subprocess.PIPE)

    @classmethod
    def tearDownClass(cls):
        cls.keeper.stdin.close()
        cls.keeper.wait(GIVE_UP)

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def python(self, *words, encoding="utf-8", **options):
        """Run `python WORDS` for Windows; return (exit code, text with this system's line ends)."""
        given = {"seconds": SECONDS, "cwd": KIT, "PYTHONIOENCODING": encoding, **options}
        code, printed = windows.python(self.version, *words, **given)
        text = printed.decode(encoding).replace("\r\n", "\n")
        self.assertNotIn("Traceback", text)
        return code, text

    def verify(self, *words, **options):
        return self.python("verify.py", *words, **options)

    def put(self, name, source):
        """Write a submission; return how Windows names its folder."""
        place = self.folder / name
        place.mkdir(parents=True)
        (place / f"{MAIN}.py").write_text(source, encoding="utf-8")
        return windows.path_for_windows(place)

    def test_every_solution_passes(self):
        code, text = self.verify("solution", "--lab", "all", "--timeout", "240")  # Wine 8's taskkill knows no /T
        self.assertEqual((code, text.count("\n15 of 15 passed\n")), (0, len(LABS)), text)

    def test_the_starter_reads_as_elsewhere(self):
        code, text = self.verify("starter", *LIMIT)
        here = run("verify.py", "starter", *LIMIT)
        self.assertEqual((code, text), (here.returncode, here.stdout))

    def test_a_class_is_graded_as_elsewhere_with_every_report(self):
        frames = {
            "right": solution_of(MAIN),
            "wrong": frame.framed(MAIN, "def run_tool_call(call, tools):\n    return call['tool'], None\n"),
            "children": begins_with(SPAWNS),
            "read only": begins_with(READ_ONLY),
            "Ünal Ş 語": begins_with(PRINTS),
            "null": begins_with(OPENS_NUL),
            "broken": "def (:\n",
        }
        for name, source in frames.items():
            self.put(f"class/{name}", source)
        before = folders_left()  # of graders that were killed
        reports = self.reports({"json": "r.json", "csv": "r.csv", "html": "r.html", "junit": "r.xml"})
        place = windows.path_for_windows(self.folder / "class")
        code, text = self.verify(place, "--seed", "7", "--jobs", "2", *LIMIT, *reports)
        self.assertEqual(code, 1, text)
        here = run("verify.py", self.folder / "class", "--seed", "7", *LIMIT, "--json", self.folder / "here.json")
        self.assertEqual(here.returncode, 1, here.stderr)
        marks = [self.marks_of(file) for file in ("r.json", "here.json")]
        self.assertEqual(*marks)
        passed = {name: verdicts.count("passed") for name, (verdicts, _) in marks[0].items()}
        self.assertIn(passed.pop("wrong"), range(1, 15))
        self.assertEqual(passed, {name: 0 if name == "broken" else 15 for name in passed})
        self.assertIn("one\ntwo ü\n", marks[0]["Ünal Ş 語"][1])
        for name in frames:
            self.assertIn(name, (self.folder / "r.csv").read_text(encoding="utf-8-sig"))
            self.assertIn(name, (self.folder / "r.html").read_text(encoding="utf-8"))
        cases = xml.etree.ElementTree.parse(self.folder / "r.xml").iter("testcase")
        self.assertEqual(len(list(cases)), 15 * len(frames))
        self.assertTrue(wait_until(lambda: not started(), GIVE_UP), "what a submission has started still runs")
        self.assertEqual([name for name in folders_left() if name not in before], [])

    def marks_of(self, file):
        """Return {name: (verdicts, what was printed)} of a result. On Windows its line ends are read as Python's."""
        entries = json.loads((self.folder / file).read_text(encoding="utf-8"))["submissions"]
        marks = {entry["name"]: entry["marks"] for entry in entries}
        printed = {name: "".join(mark["printed"] for mark in of).replace("\r\n", "\n") for name, of in marks.items()}
        return {name: ([mark["verdict"] for mark in of], printed[name]) for name, of in marks.items()}

    def reports(self, files):
        """Return the options that write reports, {name: file}, into this test's folder."""
        paths = {name: windows.path_for_windows(self.folder / file) for name, file in files.items()}
        return [word for name, path in paths.items() for word in (f"--{name}", path)]

    def test_reports_of_one_submission(self):
        code, text = self.verify("solution", *LIMIT, *self.reports({"gradescope": "g.json", "classroom": "c.txt"}))
        self.assertEqual(code, 0, text)
        self.assertEqual(len(json.loads((self.folder / "g.json").read_text(encoding="utf-8"))["tests"]), 15)
        self.assertEqual(len(json.loads(base64.b64decode((self.folder / "c.txt").read_bytes()))["tests"]), 15)

    def test_a_loop_without_end_costs_its_limit_and_shows_its_line(self):
        place = self.put("loop", begins_with("while True: pass\n"))
        began = time.monotonic()
        code, text = self.verify(place, "-k", "P1", "--timeout", "4")
        self.assertLess(time.monotonic() - began, GIVE_UP)
        self.assertEqual(code, 1)
        self.assertRegex(text, r"failed    it ran longer than 4 s\n  at .*line \d+: while True: pass")

    @unittest.skip("Wine 8 takes the memory limit of a job and does not keep to it; Windows does")
    def test_memory_has_a_limit(self):
        place = self.put("hog", begins_with("bytearray(1 << 30)\n"))
        code, text = self.verify(place, "-k", "P1", *LIMIT)
        self.assertEqual((code, "MemoryError" in text), (1, True), text)

    def test_ended_from_outside_it_leaves_no_process(self):
        place = self.put("children", begins_with(SPAWNS + "import time\ntime.sleep(300)\n"))
        process = windows.begun(self.version, "verify.py", place, *LIMIT, cwd=KIT)
        try:
            self.assertTrue(wait_until(lambda: len(started()) >= 2, GIVE_UP))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertTrue(wait_until(lambda: not started(), GIVE_UP), "what a submission has started still runs")

    def test_where_taskkill_fails_the_process_itself_is_ended(self):
        text = (
            "import subprocess, sys, time; sys.path.insert(0, 'tests')\n"
            "from grader.line.processes import end_process\n"
            "process = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
            "end_process(process, set(), False)\n"
            "print(process.poll())\n"
        )
        self.assertEqual(self.python("-c", text, seconds=GIVE_UP), (0, "1\n"))

    def test_watch_grades_again_at_each_save(self):
        place = self.put("watched", "pass\n")
        process = windows.begun(self.version, "verify.py", place, "--watch", *LIMIT, cwd=KIT, stdout=subprocess.PIPE)
        with open(self.folder / "said", "wb") as file:
            copier = subprocess.Popen(["cat"], stdin=process.stdout, stdout=file)
        try:
            said = lambda text: text in (self.folder / "said").read_bytes()
            self.assertTrue(wait_until(lambda: said(b"0 of 15"), GIVE_UP), "it did not grade")
            shutil.copy(KIT / "solution" / f"{MAIN}.py", self.folder / "watched")
            self.assertTrue(wait_until(lambda: said(b"15 of 15"), GIVE_UP), "it did not see the save")
        finally:
            for each in (process, copier):
                each.kill()
                each.wait()
            process.stdout.close()

    def test_files(self):
        """A name that Windows keeps for itself, a hand-out, a path that is too long."""
        code, text = self.verify("nul")
        self.assertEqual((code, text), (2, "verify.py: nul: expected a Python file, a folder or a zip\n"))
        code, text = self.verify("solution", "--json", "nul", *LIMIT)
        self.assertEqual(code, 0, text)
        code, text = self.verify("--make-handout", windows.path_for_windows(self.folder / "out.zip"))
        self.assertEqual(code, 0, text)
        with zipfile.ZipFile(self.folder / "out.zip") as archive:
            names = archive.namelist()
        self.assertTrue(any(name.endswith(f"starter/{MAIN}.py") for name in names), names)
        self.assertEqual([name for name in names if "\\" in name or "solution" in name], [])
        place = self.put("/".join(["l" * 100] * 3), solution_of(MAIN))
        code, text = self.verify(place, "-q", *LIMIT)  # Windows takes it when it was told to, else it says why not
        self.assertEqual((code, text.count("\n")), (0 if "15 of 15" in text else 2, 1), text)

    def test_every_code_page(self):
        """What goes through a pipe is in the code page of the system; what that lacks is written as its number."""
        for encoding in ("cp437", "cp850", "cp1252", "cp932", "utf-8"):
            with self.subTest(encoding=encoding):
                code, text = self.verify("Ünal/語/😀.py", encoding=encoding)
                self.assertEqual((code, text.count("\n")), (2, 1), text)

    def test_the_recorded_scenarios_read_as_elsewhere(self):
        for lab in LABS:
            with self.subTest(lab=lab):
                words = [f"solution/{lab}.py", f"scenario/{lab}"]
                here = run(*words)
                code, text = self.python(*words)
                self.assertEqual(code, here.returncode, text)
                if lab != "eval_harness":  # its report tells times
                    self.assertEqual(text, here.stdout + here.stderr)


for each in windows.made():
    name = f"Python{each.replace('.', '_')}"
    globals()[name] = type(name, (OnWindows, unittest.TestCase), {"version": each, "__module__": __name__})

if not windows.made():

    class Python(unittest.TestCase):
        @unittest.skip("no Python for Windows: windows.py makes them, where there is Wine")
        def test_on_windows(self):
            """All of the tests above."""


if __name__ == "__main__":
    unittest.main()
