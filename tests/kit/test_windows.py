"""Windows: real Pythons for it grade and write reports, run by Wine on Linux. windows.py makes them; without them all is skipped.

What Wine lacks and Windows has is said where a test is skipped. Consoles are not tried: Python writes to them in Unicode,
whatever their code page, and the code pages matter for pipes and files, which are.
"""

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
from kit import KIT, LABS, run, solution_of

MAIN = "ticket_triage"
LIMIT = ("--timeout", "60")  # seconds: nothing here is about the speed of Wine
SECONDS = 300  # for a whole run of verify.py
GIVE_UP = 30.0  # seconds in which what is ended has to be gone
PARSE = "def parse_triage(raw, categories):\n"
MARKER = "kit-on-windows"  # in the command line of what a submission starts
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


def comes_true(holds, seconds=GIVE_UP):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


class OnWindows:
    """The tests, for one version."""

    version = ""

    @classmethod
    def setUpClass(cls):
        """Keep one program running: else Wine starts its services for each anew."""
        words = [f"C:\\Python{cls.version.replace('.', '')}\\python.exe", "-c", "import sys; sys.stdin.read()"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": windows.environment()}
        cls.keeper = subprocess.Popen(["wine", *words], stdin=subprocess.PIPE, **quiet)

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
        code, text = self.verify("solution", "--lab", "all", "-q", *LIMIT)
        self.assertEqual((code, text.count(": 15 of 15 passed\n")), (0, len(LABS)), text)

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
            "nul": begins_with(OPENS_NUL),
            "broken": "def (:\n",
        }
        for name, source in frames.items():
            self.put(f"class/{name}", source)
        names = {"json": "r.json", "csv": "r.csv", "html": "r.html", "junit": "r.xml"}
        reports = [word for name, file in names.items() for word in (f"--{name}", windows.path_for_windows(self.folder / file))]
        code, text = self.verify(windows.path_for_windows(self.folder / "class"), "--seed", "7", "--jobs", "2", *LIMIT, *reports)
        self.assertEqual(code, 1, text)
        here = run("verify.py", self.folder / "class", "--seed", "7", *LIMIT, "--json", self.folder / "here.json")
        self.assertEqual(here.returncode, 1, here.stderr)
        marks = [self.marks_of(file) for file in ("r.json", "here.json")]
        self.assertEqual(*marks)
        self.assertEqual({name: verdicts.count("passed") for name, (verdicts, _) in marks[0].items() if name != "wrong"},
                         {name: 0 if name == "broken" else 15 for name in frames if name != "wrong"})  # fmt: skip
        self.assertIn("one\ntwo ü\n", marks[0]["Ünal Ş 語"][1])
        for name in frames:
            self.assertIn(name, (self.folder / "r.csv").read_text(encoding="utf-8-sig"))
            self.assertIn(name, (self.folder / "r.html").read_text(encoding="utf-8"))
        self.assertEqual(len(list(xml.etree.ElementTree.parse(self.folder / "r.xml").iter("testcase"))), 15 * len(frames))
        self.assertTrue(comes_true(lambda: not started()), "what a submission has started still runs")
        self.assertEqual(folders_left(), [])
        again = self.verify(windows.path_for_windows(self.folder / "class"), "--resume", reports[1], *LIMIT)
        self.assertEqual(again[0], 1, again[1])

    def marks_of(self, file):
        """Return {name: (verdicts, what was printed)} of a result."""
        entries = json.loads((self.folder / file).read_text(encoding="utf-8"))["submissions"]
        return {entry["name"]: ([mark["verdict"] for mark in entry["marks"]], "".join(mark["printed"] for mark in entry["marks"])) for entry in entries}

    def test_reports_of_one_submission(self):
        files = {name: self.folder / name for name in ("gradescope", "classroom")}
        reports = [word for name, file in files.items() for word in (f"--{name}", windows.path_for_windows(file))]
        code, text = self.verify("solution", *LIMIT, *reports)
        self.assertEqual(code, 0, text)
        self.assertEqual(len(json.loads(files["gradescope"].read_text(encoding="utf-8"))["tests"]), 15)
        self.assertGreater(files["classroom"].stat().st_size, 100)

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
        words = [f"C:\\Python{self.version.replace('.', '')}\\python.exe", "verify.py", place, *LIMIT]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(["wine", *words], cwd=KIT, env=windows.environment(), **quiet)
        try:
            self.assertTrue(comes_true(lambda: len(started()) >= 2))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertTrue(comes_true(lambda: not started()), "what a submission has started still runs")

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
        words = [f"C:\\Python{self.version.replace('.', '')}\\python.exe", "verify.py", place, "--watch", *LIMIT]
        with open(self.folder / "said", "wb") as said:
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            process = subprocess.Popen(["wine", *words], cwd=KIT, env=windows.environment(), **pipes)
            copier = subprocess.Popen(["cat"], stdin=process.stdout, stdout=said)
        try:
            self.assertTrue(comes_true(lambda: b"0 of 15" in (self.folder / "said").read_bytes()), "it did not grade")
            shutil.copy(KIT / "solution" / f"{MAIN}.py", self.folder / "watched")
            self.assertTrue(comes_true(lambda: b"15 of 15" in (self.folder / "said").read_bytes()), "it did not see the save")
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
        self.assertIn(f"starter/{MAIN}.py", [name.partition("/")[2] if names[0].startswith("out/") else name for name in names])
        self.assertEqual([name for name in names if "\\" in name or "solution" in name], [])
        place = self.put("/".join(["l" * 100] * 3), solution_of(MAIN))
        code, text = self.verify(place, "-q", *LIMIT)  # Windows takes it when it was told to, else it says why not
        self.assertEqual((code, text.count("\n")), (0 if "15 of 15" in text else 2, 1), text)

    def test_every_code_page(self):
        """Output that goes through a pipe is in the code page of the system: what that lacks is written as its number."""
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
