"""Submissions that try, or happen, to fool or break the grader: each has the verdict it should have, and leaves nothing.

A file in hostile/LAB/ is appended to the lab's solution, whose functions it replaces or surrounds. Its first line is read here:
`kind 2 | passes: all but e1 c1 | reason: a part of a failure's text | limit 1 | needs posix`. A test goes by the
first clause in its name (test_e1_e3_... is e1); `limit` is the time in seconds, 10 when it is not given. PLACES in it
becomes a dict of paths: of the kit, its solution, and another submission.
What is about files rather than code is made by the functions below.
"""

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import frame
import kit
from kit import LABS, solution_of
from test_sandbox import landlock

from grader.grading import grade
from grader.intake.sources import lab_of
from grader.line.process import Limits, Workers
from grader.result import PASSED

SOLUTION = solution_of("ticket_triage")
HEADER = re.compile(r"kind (\d+) \| passes: (all|none|all but [a-z0-9 ]+?)(?: \| reason: (.*?))?(?: \| limit (\d+))?(?: \| needs (posix|linux|sandbox))?$")
SECONDS = 10.0  # the limit of those that do not hang: a busy machine is not a reason to fail
SLEEP = "7654.3"  # seconds that processes of hostile/ sleep; each run has its own number, by which it finds its own
OWN_SLEEP = f"7654.{os.getpid():010}"
WORKERS = Workers()  # of a process of the pool
HAVE = {None: True, "posix": os.name == "posix", "linux": sys.platform == "linux", "sandbox": landlock() > 0}


def failures_of(report):
    """Return all that the report says about failures, as one text."""
    rows = [row for mark in report.marks for row in mark.failures] + ([report.load_failure] if report.load_failure else [])
    return "\n".join(text for row in rows for text in (row.reason, row.got) if text)


def has_template():
    return WORKERS.template is not None


def verdict_of(path, seconds):
    """Grade in a process of the pool; return (what passes, all that the failures say, the verdicts).

    Verdicts are {clause: [verdict of each test that goes by it]}; what passes are the clauses with all their tests.
    """
    report, verdicts = grade(path, Limits(seconds), workers=WORKERS), {}
    for mark in report.marks:
        verdicts.setdefault(re.match("test_([a-z][0-9]+)_", mark.name)[1], []).append(mark.verdict)
    return {clause for clause, each in verdicts.items() if set(each) == {PASSED}}, failures_of(report), verdicts


# ---- submissions that are about files: each returns (path, what passes, reason)


def bytes_in(folder, data, name="ticket_triage.py"):
    path = folder / name
    path.write_bytes(data)
    return path


def files():
    """Return {name: (kind, function of a folder that makes the submission there, what passes, reason)}."""
    solution, encoded = SOLUTION, SOLUTION.encode()
    accented = solution + '\nNAME = "Zażółć"\n'
    return {
        "latin_1": (9, lambda folder: bytes_in(folder, b'# caf\xe9\n' + encoded), "none", "is not UTF-8 text"),
        "latin_1_that_says_so": (9, lambda folder: bytes_in(folder, b"# coding: latin-1\n# caf\xe9\n" + encoded), "all", ""),
        "slow_encoding": (9, lambda folder: bytes_in(folder, b"# coding: punycode\n" + b"a" * 900_000), "none", "is not UTF-8"),
        "unknown_encoding": (9, lambda folder: bytes_in(folder, b"# coding: klingon\n" + encoded), "none", "is not UTF-8"),
        "gbk_that_says_so": (16, lambda folder: bytes_in(folder, "# -*- coding: gbk -*-\n# 包裹\n".encode("gbk") + encoded), "all", ""),
        "cp1251_that_says_so": (16, lambda folder: bytes_in(folder, "#!/usr/bin/python3\n# vim: set fileencoding=cp1251 :\n# Привет\n".encode("cp1251") + encoded), "all", ""),
        "gbk_that_is_not": (9, lambda folder: bytes_in(folder, b"# coding: gbk\n# \xff\xff\n" + encoded), "none", "is not UTF-8 text: 'gbk' codec"),
        "many_siblings": (13, lambda folder: many_siblings(folder, "\x01"), "all", ""),
        "many_siblings_imported": (13, lambda folder: many_siblings(folder, "#", "import sibling_60\n"), "none", "sibling_60.py is left out: the files together have more than"),
        "utf_16": (9, lambda folder: bytes_in(folder, solution.encode("utf-16")), "none", "is not UTF-8"),
        "bom": (9, lambda folder: bytes_in(folder, b"\xef\xbb\xbf" + accented.encode()), "all", ""),
        "crlf": (9, lambda folder: bytes_in(folder, accented.replace("\n", "\r\n").encode()), "all", ""),
        "cr": (9, lambda folder: bytes_in(folder, accented.replace("\n", "\r").encode()), "all", ""),
        "nul": (9, lambda folder: bytes_in(folder, b"\0" + encoded), "none", "does not load: "),
        "empty": (9, lambda folder: bytes_in(folder, b""), "none", "is empty"),
        "large": (9, lambda folder: bytes_in(folder, b"#" * (1 << 21)), "none", "has more than 1,048,576 bytes"),
        "folder": (9, a_folder, "none", "is not a file"),
        "missing": (9, lambda folder: folder / "ticket_triage.py", "none", "cannot be read: "),
        "broken_link": (9, lambda folder: a_link(folder, "nowhere.py"), "none", "is a link"),
        "link_to_the_solution": (9, lambda folder: a_link(folder, kit.KIT / "solution" / "ticket_triage.py"), "none", "is a link"),
        "link_without_end": (9, lambda folder: a_link(folder, "/dev/zero"), "none", "is a link"),
        "pipe": (9, a_pipe, "none", "is not a file"),
        "socket": (9, a_socket, "none", "is not a file"),
        "future": (11, lambda folder: bytes_in(folder, future(solution).encode()), "all", ""),
        "stale_pyc": (10, a_stale_pyc, "all", ""),
        "shadows": (10, shadows, "all", ""),
        "shadows_imported": (10, lambda folder: shadows(folder, "import json, unittest, conftest\n"), "none", "this must not run"),
        "bad_neighbours": (10, bad_neighbours, "all", ""),
        "bad_neighbour_imported": (10, lambda folder: bad_neighbours(folder, "import letter"), "none", "letter.py is a link"),
        "helper": (11, a_helper, "all", ""),
        "odd_path": (11, an_odd_path, "all", ""),
        "odd_name": (11, lambda folder: bytes_in(folder, encoded, "Zoë O'Brien (2)_ticket_triage.py"), "all", ""),
        "words_of_an_import": (13, lambda folder: bytes_in(folder, encoded + b"\n# " + b" import" * 139_000), "all", ""),
        "coding_line_of_a_megabyte": (13, lambda folder: bytes_in(folder, b"# coding: " + b"x" * 900_000), "none", "is not UTF-8"),
        "reason_of_a_megabyte": (13, lambda folder: bytes_in(folder, encoded + b"\nraise ValueError('x' * 900_000)\n"), "none", "does not load: ValueError: xxx"),
        "line_of_a_megabyte": (13, lambda folder: bytes_in(folder, encoded + b"\n" + b"1;" * 300_000 + b"1/0\n"), "none", "does not load: ZeroDivisionError"),
        "lines_of_other_writings": (14, lambda folder: bytes_in(folder, (solution + "\n# \x0b \x0c \x1c \x85 \u2028 \u202e\n").encode()), "all", ""),
        "name_that_colours": (14, lambda folder: a_name_that_colours(folder, encoded), "all", ""),
    }


def a_name_that_colours(folder, data):
    if os.name == "nt":
        raise unittest.SkipTest("Windows allows no such name")
    return bytes_in(folder, data, "a\x1b[31m\nb\u202e_ticket_triage.py")


def a_folder(folder):
    (folder / "ticket_triage.py").mkdir()
    return folder / "ticket_triage.py"


def a_link(folder, target, name="ticket_triage.py"):
    try:
        (folder / name).symlink_to(target)
    except OSError as error:
        raise unittest.SkipTest(f"no links here: {error}") from error
    return folder / name


def a_pipe(folder):
    if not hasattr(os, "mkfifo"):
        raise unittest.SkipTest("no named pipes here")
    os.mkfifo(folder / "ticket_triage.py")
    return folder / "ticket_triage.py"


def a_socket(folder):
    if not hasattr(socket, "AF_UNIX"):
        raise unittest.SkipTest("no sockets in folders here")
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind(str(folder / "ticket_triage.py"))
        except OSError as error:  # the path is too long for one: macOS has deep temporary folders
            raise unittest.SkipTest(f"no socket here: {error}") from error
    return folder / "ticket_triage.py"


def future(text):
    return text.replace("import argparse\n", "from __future__ import annotations\n\nimport argparse\n", 1).replace("def show(value)", "def show(value: NoSuchType)")


def a_stale_pyc(folder):
    """A .pyc of an older version, of the same size and second as the file that is handed in."""
    path = bytes_in(folder, SOLUTION.replace("SUMMARY_LIMIT = 120", "SUMMARY_LIMIT = 119").encode())
    stamp = 1_700_000_000
    os.utime(path, (stamp, stamp))
    code = importlib.util.cache_from_source(str(path))
    Path(code).parent.mkdir()
    loader = importlib.util.spec_from_file_location("ticket_triage", path).loader
    data = importlib._bootstrap_external._code_to_timestamp_pyc(loader.get_code("ticket_triage"), stamp, path.stat().st_size)
    Path(code).write_bytes(data)
    path.write_bytes(SOLUTION.encode())
    os.utime(path, (stamp, stamp))
    return path


def shadows(folder, first=""):
    """Files that would stand in for the standard library's, or be run by a runner."""
    names = ("json", "unittest", "os", "sitecustomize", "usercustomize", "conftest", "argparse", "worker", "grader", "labtest", "test_x")
    for name in names:
        bytes_in(folder, b"raise SystemExit('this must not run')\n", f"{name}.py")
    bytes_in(folder, b"[pytest]\naddopts = -p no:all\n", "pytest.ini")
    return bytes_in(folder, (first + SOLUTION).encode())


def bad_neighbours(folder, last=""):
    bytes_in(folder, b"\xff\xfe\0", "notes.py")
    (folder / "old.py").mkdir()
    a_link(folder, "/etc/passwd", "letter.py")
    return bytes_in(folder, f"{SOLUTION}\n{last}\n".encode())


def a_helper(folder):
    bytes_in(folder, b"from second_helper import same\n\ndef twice(value):\n    return same(same(value))\n", "my_helper.py")
    bytes_in(folder, "def same(value):\n    return value  # dokładnie\n".encode(), "second_helper.py")
    return bytes_in(folder, f"{SOLUTION}\nimport my_helper\nFIELDS = my_helper.twice(FIELDS)\n".encode())


def many_siblings(folder, filler, first=""):
    """A hundred files of a megabyte each, of characters that JSON writes with six."""
    for number in range(100):
        bytes_in(folder, b"# " + filler.encode() * ((1 << 20) - 100), f"sibling_{number}.py")
    return bytes_in(folder, (first + SOLUTION).encode())


def an_odd_path(folder):
    place = folder / "Zoë’s homework (final) %s {}\n; rm -rf"
    try:
        place.mkdir()
    except OSError:  # Windows allows fewer characters
        place = folder / "Zoë’s homework (final) %s {}"
        place.mkdir()
    return bytes_in(place, SOLUTION.encode())


# ---- what is left


def left_processes(*markers):
    """Return the command lines of processes (Linux) that have one of the markers in their environment or arguments."""
    found = []
    for entry in os.listdir("/proc") if sys.platform == "linux" else []:
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                words = Path("/proc", entry, "cmdline").read_bytes()
                environment = Path("/proc", entry, "environ").read_bytes()
                folder = os.readlink(f"/proc/{entry}/cwd").encode(errors="surrogateescape")  # a copy's variables are its template's
            except OSError:
                continue
            if any(marker.encode() in words + environment + folder for marker in markers):
                found.append(words.replace(b"\0", b" ").decode(errors="replace"))
    return found


def some_that_hang(submissions):
    """Return the submissions without most of those that run into their limit: of each kind one is left."""
    kept, kinds = [], set()
    for submission in submissions:
        _, kind, _, seconds, *_ = submission
        if seconds == SECONDS or kind not in kinds:
            kept.append(submission)
        if seconds < SECONDS:
            kinds.add(kind)
    return kept


def begin_process(folder, copies):
    """Make a process of the pool keep its temporary files in this folder, where those that stay behind are found.

    copies: its workers are copies of a template, as when a class is graded.
    """
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder))
    tempfile.tempdir = None
    if copies:
        WORKERS.use_template()


class Hostile(unittest.TestCase):
    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="hostile-")).resolve()
        self.addCleanup(shutil.rmtree, self.place)
        self.temporary = self.place / "temporary"
        self.temporary.mkdir()
        self.threads = threading.active_count()

    def submissions(self):
        """Return [(name, kind, path, seconds, what passes, reason)]; print which kinds have how many."""
        found, kinds = [], {}
        neighbour = bytes_in(self.place, SOLUTION.encode())
        for lab, part in [(lab, part) for lab in LABS for part in frame.parts("hostile", lab)]:
            places = {"kit": str(kit.KIT), "solution": str(kit.KIT / "solution" / f"{lab}.py"), "neighbour": str(neighbour)}
            text = part.read_text(encoding="utf-8").replace(SLEEP, OWN_SLEEP).replace("PLACES", repr(places))
            header = HEADER.match(text.split('"""')[1].splitlines()[0])
            kind, passes, reason, limit, needs = header.groups()
            if not HAVE[needs]:
                print(f"skipped: {part.stem}: it needs {needs}")
                continue
            folder = self.place / lab / part.stem
            folder.mkdir(parents=True)
            path = frame.hand_in(folder, lab, f"{solution_of(lab)}\n\n{text}")
            found.append((part.stem, int(kind), path, float(limit or SECONDS), passes, reason or ""))
            kinds[int(kind)] = kinds.get(int(kind), 0) + 1
        for name, (kind, make, passes, reason) in files().items():
            folder = self.place / name
            folder.mkdir()
            try:
                found.append((name, kind, make(folder), SECONDS, passes, reason))
                kinds[kind] = kinds.get(kind, 0) + 1
            except unittest.SkipTest as skip:
                print(f"skipped: {name}: {skip}")
        print(f"{len(found)} submissions; of each kind: {dict(sorted(kinds.items()))}")
        self.assertLessEqual(set(range(1, 17)), set(kinds))
        self.assertGreaterEqual(len(found), 66)
        return found

    def test_each_has_the_verdict_it_should_have_and_leaves_nothing(self):
        submissions = self.submissions()
        for copies in (False, True) if sys.platform == "linux" else (False,):
            self.grade_all(some_that_hang(submissions) if copies else submissions, copies)
            self.assertEqual(left_processes(str(self.temporary), OWN_SLEEP), [])
            self.assertEqual(list(self.temporary.iterdir()), [])
            self.assertEqual(threading.active_count(), self.threads)

    def grade_all(self, submissions, copies):
        """Grade each, in workers that are started or that are copies, and compare its verdict."""
        slowest, tests = {}, {lab: len(frame.tests_on(lab, solution_of(lab))) for lab in LABS}
        with kit.pool(initializer=begin_process, initargs=(str(self.temporary), copies)) as pool:
            futures = [(name, path, seconds, passes, reason, pool.submit(timed, path, seconds)) for name, _, path, seconds, passes, reason in submissions]
            for name, path, seconds, passes, reason, future in futures:
                with self.subTest(name, copies=copies):
                    (passed, said, verdicts), slowest[name] = future.result(timeout=300)
                    expected = set() if passes == "none" else set(verdicts) - set(passes.split()[2:])
                    if passed != expected and seconds < SECONDS:  # was the machine too busy for so short a limit?
                        passed, said, verdicts = pool.submit(verdict_of, path, SECONDS).result(timeout=300)
                    self.assertEqual(sum(map(len, verdicts.values())), tests[lab_of(path)])
                    self.assertEqual(" ".join(sorted(passed)), " ".join(sorted(expected)), said[:1000])
                    self.assertTrue(reason in said, f"expected {reason!r} in {said[:1000]}")
                    self.assertLess(len(said), 200_000)
            self.assertEqual(pool.submit(has_template).result(timeout=60), copies)
        print("the slowest:", ", ".join(f"{name} {slowest[name]:.1f} s" for name in sorted(slowest, key=slowest.get)[-6:]))

    @unittest.skipUnless(sys.platform == "linux", "processes are looked for in /proc")
    def test_what_is_left_would_be_found(self):
        """By the number that it sleeps, and by its temporary folder."""
        code = "import sys; print(flush=True); sys.stdin.read()"
        for arguments, variables in (([OWN_SLEEP], {}), ([], {"TMPDIR": str(self.temporary)})):
            with self.subTest(arguments=arguments, variables=variables):
                command, pipes = [sys.executable, "-c", code, *arguments], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
                with subprocess.Popen(command, env={**os.environ, **variables}, **pipes) as left:
                    left.stdout.readline()
                    self.assertEqual(len(left_processes(str(self.temporary), OWN_SLEEP)), 1)
                    left.stdin.close()


class Rewriting(unittest.TestCase):
    def test_a_submission_that_rewrites_the_grader_changes_nothing_in_this_run(self):
        """All that judges is imported before the first line of the submission runs. (A later run is another matter: see tests/README.md.)"""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "kit")
            for room in ("tests", "scenario", "solution"):
                shutil.copytree(kit.KIT / room, copy / room, ignore=shutil.ignore_patterns("kit", "__pycache__"))
            shutil.copy(kit.KIT / "verify.py", copy)
            forged = "import os\nprint('15 of 15 passed', flush=True)\nos._exit(0)\n"
            attack = f"""
import glob, time
time.sleep(0.2)
for path in glob.glob({str(copy)!r} + "/**/*.py", recursive=True):
    with open(path, "w", encoding="utf-8") as file:
        file.write({forged!r})
parse_triage = run_tool_call = triage = evaluate = main = None
"""
            written = (Path(folder, "r.json"), Path(folder, "r.html"))
            for options in ([], ["--all", "--hint"], ["--json", str(written[0])], ["--html", str(written[1])]):
                with self.subTest(options):
                    options.append("--no-sandbox")  # closed in it cannot even open them: test_sandbox.py
                    shutil.copytree(kit.KIT / "tests", copy / "tests", dirs_exist_ok=True, ignore=shutil.ignore_patterns("kit", "__pycache__"))
                    shutil.copy(kit.KIT / "verify.py", copy)
                    target = Path(folder, "ticket_triage.py")
                    target.write_text(f"{SOLUTION}\n{attack}", encoding="utf-8")
                    done = kit.run(copy / "verify.py", target, *options, cwd=folder)
                    self.assertNotIn("15 of 15 passed", done.stdout)
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)


def timed(path, seconds):
    started = time.monotonic()
    return verdict_of(path, seconds), time.monotonic() - started


if __name__ == "__main__":
    unittest.main()
