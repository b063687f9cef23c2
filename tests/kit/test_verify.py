"""What a student types and sees: verify.py on one submission, in a pipe, on a terminal, used wrongly."""

import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

from kit import KIT, run

SOLUTION = (KIT / "solution" / "ticket_triage.py").read_text(encoding="utf-8")
STARTER = (KIT / "starter" / "ticket_triage.py").read_text(encoding="utf-8")


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-verify-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "ticket_triage.py"

    def write(self, text):
        self.file.write_text(text, encoding="utf-8")

    def verify(self, *arguments, **options):
        return run(KIT / "verify.py", *arguments, **options)


class Output(WithFolder):
    def test_exit_codes(self):
        rows = [
            (["solution"], 0, "15 of 15 passed"),
            (["starter"], 1, "0 of 15 passed"),
            ([], 1, "starter/ticket_triage.py\n\n  parse_triage"),
            (["solution", "-q"], 0, "solution/ticket_triage.py: 15 of 15 passed"),
            (["solution", "-k", "priority"], 1, "1 of 1 passed"),
            (["solution", "--debug"], 1, "this is not a grade"),
        ]
        for arguments, code, text in rows:
            with self.subTest(arguments=arguments):
                done = self.verify(*arguments)
                self.assertEqual((done.returncode, done.stderr), (code, ""))
                self.assertIn(text, done.stdout)

    def test_wrong_use_gets_one_line(self):
        (self.folder / "notes.txt").write_text("no Python", encoding="utf-8")
        rows = [
            (["nowhere"], "nowhere"),
            ([self.folder], "no ticket_triage.py"),
            ([self.folder / "notes.txt"], "notes.txt"),
            (["starter", "--timeout", "0"], "--timeout"),
            (["starter", "--timeout", "nan"], "--timeout"),
            (["starter", "--memory", "much"], "--memory"),
            (["starter", "--wacth"], "--wacth"),
            (["starter", "--resume", "nowhere.json", "--csv", "x.csv"], "nowhere.json"),
        ]
        for arguments, named in rows:
            with self.subTest(arguments=arguments):
                done = self.verify(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(named, done.stderr)

    def test_the_first_failure_is_explained(self):
        self.write(SOLUTION.replace("type(priority) is not int or ", ""))
        done = self.verify(self.folder)
        for part in ("TASK.md P5: priority is", "call      parse_triage(", "expected  TriageError that names priority",
                     "got       {'category'", "why       true is a bool", "14 of 15 passed"):
            self.assertIn(part, done.stdout)

    def test_a_clause_fails_by_a_row_of_its_own(self):
        """In a test of several clauses the others keep their mark, also when a row ends the process."""
        rows = [
            (SOLUTION.replace("type(needs_human) is not bool", "needs_human not in (True, False)"), "P7"),
            (SOLUTION.replace("type(priority) is not int or ", ""), "P5"),
        ]
        for text, clause in rows:
            with self.subTest(clause=clause):
                self.assertNotEqual(text, SOLUTION)
                self.write(text)
                self.assertEqual(re.findall(r"(\w\d+) \u2718", self.verify(self.folder).stdout), [clause])

    def test_an_exception_shows_the_submission_s_own_line(self):
        self.write(SOLUTION.replace('    _exactly(record, FIELDS', '    record["urgency"]\n    _exactly(record, FIELDS'))
        done = self.verify(self.folder)
        number = self.file.read_text(encoding="utf-8").splitlines().index('    record["urgency"]') + 1
        self.assertIn("KeyError: 'urgency'", done.stdout)
        self.assertRegex(done.stdout, rf'line {number}:\s+record\["urgency"\]')

    def test_lines_are_counted_as_python_counts_them(self):
        """What other writings take for a line's end begins no line: the text beside "at" is that of the line."""
        trap = "# \x0b \x0c \x1c \x1d \x85 \u2028 \u2029\n"
        self.write(trap + SOLUTION.replace("\ndef parse_triage(", f"\n{trap}def parse_triage(").replace('    _exactly(record, FIELDS', '    record["urgency"]\n    _exactly(record, FIELDS'))
        self.assertRegex(self.verify(self.folder).stdout, r'line \d+:\s+record\["urgency"\]')
        self.write(trap + STARTER)
        place = re.search(r"not written yet \(.*, line (\d+)\)", " ".join(self.verify(self.folder).stdout.split()))[1]
        self.assertTrue((trap + STARTER).split("\n")[int(place) - 1].startswith("def parse_triage("))

    def test_what_keeps_a_submission_from_running_comes_first(self):
        rows = [
            (SOLUTION.replace("def triage(ticket_text, client, *,", "def triage(ticket_text, *,"), "Note: triage takes other parameters in line"),
            (SOLUTION.replace("def evaluate(", "def evaluation("), "Note: evaluate is missing"),
            (SOLUTION.replace("def run_tool_call(call, tools):", "def run_tool_call(call, tools:"), "does not load: SyntaxError"),
            (SOLUTION.replace("import argparse\n", "import argparse\nimport numpy\n"), "only the standard library"),
            (SOLUTION.replace("import argparse\n", "import argparse\n1 / 0\n"), "does not load: ZeroDivisionError"),
        ]
        for text, expected in rows:
            with self.subTest(expected=expected):
                self.assertNotEqual(text, SOLUTION)
                self.write(text)
                done = self.verify(self.folder)
                self.assertEqual(done.returncode, 1)
                self.assertIn(expected, " ".join("\n".join(done.stdout.splitlines()[2:5]).split()))

    def test_a_function_not_written_yet_waits_and_does_not_fail(self):
        done = self.verify("starter")
        self.assertEqual(done.stdout.count("not written yet\n"), 4)
        self.assertIn("Next: parse_triage is not written yet", done.stdout)
        self.assertEqual(done.stdout.count("NotImplementedError: write"), 1)

    def test_what_the_submission_prints_is_shown_under_its_test(self):
        self.write(SOLUTION.replace("type(priority) is not int or ", "print('seen', priority, '\\x1b[31m') or "))
        done = self.verify(self.folder)
        self.assertRegex(done.stdout, r"printed +\| seen True \\x1b\[31m\n\n")
        self.assertNotIn("\x1b", done.stdout)

    def test_a_loop_without_end_shows_its_line(self):
        start = "    return _checked(_decode(raw)"
        self.write(SOLUTION.replace(start, f"    while True:\n        pass\n{start}"))
        done = self.verify(self.folder, "--timeout", "1", "-k", "P6")
        self.assertIn("failed    it ran longer than 1 s", done.stdout)
        self.assertIn("call      parse_triage(", done.stdout)
        self.assertRegex(done.stdout, r"at .* line \d+:\s+(while True:|pass)")

    def test_breakpoint_says_how_to_debug(self):
        self.write(SOLUTION.replace("    return _checked(_decode(raw)", "    breakpoint()\n    return _checked(_decode(raw)"))
        self.assertIn("breakpoint() works with --debug only", self.verify(self.folder, "-k", "P1").stdout)

    def test_other_names_are_drawn_or_given_and_the_last_line_tells_the_seed(self):
        printing = self.folder / "ticket_triage.py"
        printing.write_text(SOLUTION.replace("    return _checked(_decode(raw), categories)", "    print(categories)\n    raise ValueError"), encoding="utf-8")
        first = self.verify(printing, "--fresh").stdout
        seed = re.search(r"--seed (\d+) repeats it\)$", first.strip())[1]
        self.assertNotIn("delivery", first)
        self.assertEqual(self.verify(printing, "--seed", seed).stdout, first)
        self.assertNotEqual(self.verify(printing, "--fresh").stdout, first)
        plain = self.verify(printing).stdout
        self.assertIn("delivery", plain)
        self.assertEqual(self.verify(printing, "--seed", "0").stdout, plain)
        self.assertTrue(plain.endswith(" of 15 passed\n"))
        self.assertIn("--seed 7 repeats it", self.verify("solution", "--debug", "--seed", "7").stdout)
        for words, part in ((["--seed", "x"], "--seed: expected a whole number from 0 to 999999999999999, got x"), (["--seed", "-1"], "--seed"), (["--seed", "9" * 5000], "--seed"), (["--fresh", "--seed", "1"], "choose")):
            with self.subTest(words=words):
                done = self.verify("solution", *words)
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
                self.assertIn(part, done.stderr)

    def test_k_takes_a_name_a_function_or_a_clause(self):
        for pattern, total in (("parse_triage", 6), ("triage", 3), ("P8", 4), ("whitespace", 1)):
            with self.subTest(pattern=pattern):
                self.assertIn(f"{total} of {total} passed", self.verify("solution", "-k", pattern).stdout)
        done = self.verify("solution", "-k", "Z9")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("Z9", done.stderr)

    def test_every_failure_and_every_hint(self):
        self.assertEqual(self.verify("starter", "--all").stdout.count("  expected  "), 15)
        self.write(SOLUTION.replace("type(priority) is not int or ", ""))
        self.assertGreater(self.verify(self.folder, "--all").stdout.count("  expected  "), 1)
        for name in re.findall(r"def (test_\w+)", (KIT / "tests" / "test_ticket_triage.py").read_text(encoding="utf-8")):
            with self.subTest(name=name):
                hint = self.verify("starter", "--hint", "-k", name).stdout.partition("  hint      ")[2].partition("\n\n")[0]
                self.assertTrue(1 <= len(hint.splitlines()) <= 3, hint)

    def test_long_values_are_cut_with_their_length(self):
        self.write(SOLUTION.replace("    return _checked(_decode(raw), categories)", "    return {}"))
        done = self.verify(self.folder, "--all", "-k", "P8")
        self.assertRegex(done.stdout, r"\([1-9][\d,]+\s+characters\)")
        self.assertLess(max(map(len, done.stdout.splitlines())), 101)

    def test_any_encoding_and_no_colour_in_a_pipe(self):
        for encoding in ("ascii", "cp1252", "cp437", "utf-8"):
            with self.subTest(encoding=encoding):
                done = self.verify("starter", env={"PYTHONIOENCODING": encoding}, encoding=encoding)
                self.assertEqual((done.returncode, done.stderr), (1, ""))
                self.assertIn("0 of 15 passed", done.stdout)
                self.assertNotIn("\x1b", done.stdout)


class Reset(WithFolder):
    def test_it_keeps_what_was_there(self):
        for number, content in enumerate(("first try", "second try", "third try")):
            self.write(content)
            done = self.verify(self.folder, "--reset")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            kept = self.folder / f"ticket_triage.py.bak{number + 1 if number else ''}"
            self.assertIn(kept.name, done.stdout)
            self.assertEqual(kept.read_text(encoding="utf-8"), content)
            self.assertEqual(self.file.read_text(encoding="utf-8"), STARTER)
        self.verify(self.folder, "--reset")
        self.assertEqual(len(list(self.folder.iterdir())), 4, "nothing new is kept when nothing was changed")

    def test_a_file_of_another_name_is_left_alone(self):
        other = self.folder / "other.py"
        other.write_text("x = 1", encoding="utf-8")
        done = self.verify(other, "--reset")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(other.read_text(encoding="utf-8"), "x = 1")


class Handout(WithFolder):
    """A kit as students get it, which --make-handout makes."""

    def setUp(self):
        super().setUp()
        self.made = self.folder / "made"
        done = self.verify("--make-handout", self.made)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.told = done.stdout
        self.folder = self.made

    def test_it_holds_no_solution_and_nothing_of_the_kit_s_own(self):
        """And says what is left out. The starter is the original, whatever the kit's own has become."""
        names = {path.relative_to(self.made).as_posix() for path in self.made.rglob("*") if path.is_file()}
        self.assertLessEqual({"README.md", "TASK.md", "LICENSE", "verify.py", "tests/labtest.py", "scenario/record.py"}, names)
        self.assertFalse([name for name in names if name.startswith(("solution", "tests/kit", ".")) or "__pycache__" in name])
        self.assertEqual((self.made / "starter" / "ticket_triage.py").read_text(encoding="utf-8"), STARTER)
        for name in ("solution/", "tests/kit/", ".github/"):
            self.assertIn(name, self.told.partition("Left out: ")[2])

    def test_a_zip_holds_the_same(self):
        archive = self.made.with_name("made.zip")
        self.assertEqual(self.verify("--make-handout", archive).returncode, 0)
        with zipfile.ZipFile(archive) as content:
            held = {name: content.read(name) for name in content.namelist()}
        self.assertEqual(held, {path.relative_to(self.made).as_posix(): path.read_bytes() for path in self.made.rglob("*") if path.is_file()})

    def test_it_writes_over_nothing_and_leaves_no_half(self):
        """A folder, a file, a link to nowhere; a place that is not there; a kit that is not as its originals say."""
        places = [self.made, self.made / "verify.py", self.made / "none" / "handout", self.made / "none" / "handout.zip"]
        if os.name != "nt":
            places.append(self.made.with_name("link.zip"))
            places[-1].symlink_to("nowhere.zip")
        rows = [(KIT, place) for place in places]
        before = sorted(self.made.rglob("*"))
        for kit, place in rows:
            with self.subTest(place=place.name):
                self.refused(kit, place)
        self.assertEqual(sorted(self.made.rglob("*")), before)
        (self.made / "tests" / "labtest.py").write_text("# mine", encoding="utf-8")
        self.refused(self.made, self.made.with_name("new"), "tests/labtest.py was changed")
        self.assertEqual(sorted(path.name for path in self.made.parent.iterdir()), sorted({"made", places[-1].name} - {"handout.zip"}))

    def refused(self, kit, place, named=""):
        done = run(kit / "verify.py", "--make-handout", place)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
        self.assertIn(str(place), done.stderr)
        self.assertIn(named, done.stderr)

    def test_it_works_without_the_solution(self):
        done = run("verify.py", "starter", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertNotIn("Note:", done.stdout)
        (self.folder / "starter" / "ticket_triage.py").write_text(SOLUTION, encoding="utf-8")
        self.assertEqual(run("verify.py", "starter", cwd=self.folder).returncode, 0)
        done = run("starter/ticket_triage.py", "scenario/ticket_triage", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run("verify.py", "starter", "--reset", cwd=self.folder).returncode, 0)
        self.assertEqual((self.folder / "starter" / "ticket_triage.py").read_text(encoding="utf-8"), STARTER)

    def test_forbidden_edits_are_named(self):
        starter = self.folder / "starter" / "ticket_triage.py"
        starter.write_text(STARTER.replace("SUMMARY_LIMIT = 120", "SUMMARY_LIMIT = 200"), encoding="utf-8")
        with open(self.folder / "tests" / "labtest.py", "a", encoding="utf-8") as file:
            file.write("# mine\n")
        (self.folder / "scenario" / "ticket_triage" / "cases.json").unlink()
        text = " ".join(run("verify.py", "starter", cwd=self.folder).stdout.split())
        for part in ("Note: SUMMARY_LIMIT: provided, and changed", "Note: tests/labtest.py was changed", "Note: scenario/ticket_triage/cases.json is missing"):
            self.assertIn(part, text)

    def test_line_ends_of_windows_are_no_edit(self):
        for path in [*self.folder.glob("tests/*.py"), self.folder / "starter" / "ticket_triage.py"]:
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        self.assertNotIn("Note:", run("verify.py", "starter", cwd=self.folder).stdout)


@unittest.skipIf(os.name == "nt", "a pseudo-terminal needs a POSIX system")
class Terminal(WithFolder):
    """verify.py on a pseudo-terminal, with key presses."""

    def start(self, *arguments, columns=80, **variables):
        import fcntl
        import pty
        import struct
        import termios

        command, environment = [sys.executable, str(KIT / "verify.py"), *map(str, arguments)], {**os.environ, "TERM": "xterm", **variables}
        number, self.terminal = pty.fork()
        if number == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
                os.execve(sys.executable, command, environment)
            finally:  # the tests must not go on in this process too
                os._exit(127)
        self.process = number
        self.seen = ""
        self.addCleanup(os.close, self.terminal)

    def read_until(self, text, seconds=60):
        """Read the terminal until text is there; return all that came since the last time."""
        import select

        end = time.monotonic() + seconds
        while text not in self.seen:
            ready = select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]
            try:
                part = os.read(self.terminal, 65536).decode("utf-8", "replace") if ready else ""
            except OSError:  # the program ended
                part = ""
            if not part:
                self.fail(f"{text!r} did not come: {self.seen[-2000:]!r}")
            self.seen += part
        seen, _, self.seen = self.seen.partition(text)
        return seen + text

    def exit_code(self):
        with contextlib.suppress(OSError):
            while os.read(self.terminal, 65536):
                pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def test_colour_only_where_it_is_wanted(self):
        rows = [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
        for variables, coloured in rows:
            with self.subTest(variables=variables):
                self.start("solution", **variables)
                self.assertEqual("\x1b[32m" in self.read_until("15 of 15 passed"), coloured)
                self.assertEqual(self.exit_code(), 0)

    def test_lines_fit_the_width(self):
        for columns in (52, 80, 200):
            with self.subTest(columns=columns):
                self.start("starter", columns=columns, NO_COLOR="1")
                text = self.read_until("0 of 15 passed")
                self.assertLessEqual(max(map(len, text.splitlines())), min(columns, 100))
                self.exit_code()

    def test_watch_runs_again_at_each_kind_of_save(self):
        self.write(STARTER)
        self.start(self.folder, "--watch")
        self.assertIn("Running the tests", self.read_until("0 of 15 passed"))
        self.assertIn("[..............................] 0/15", self.read_until("Watching."))
        self.write(SOLUTION)
        self.read_until("15 of 15 passed")
        times = os.stat(self.file)
        broken = SOLUTION.replace("SUMMARY_LIMIT = 120", "SUMMARY_LIMIT = 121")
        other = self.folder / "saved"
        other.write_text(broken, encoding="utf-8")
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
        os.replace(other, self.file)  # a save that leaves the size and the time as they were
        self.read_until("13 of 15 passed")
        other.write_text(SOLUTION, encoding="utf-8")
        os.replace(other, self.file)  # an editor that replaces the file
        self.read_until("15 of 15 passed")
        self.file.unlink()  # a file that is missing for a moment
        time.sleep(0.3)
        self.write(broken)
        self.assertNotIn("cannot be read", self.read_until("13 of 15 passed"))
        os.write(self.terminal, b"h")
        self.read_until("hint")
        os.write(self.terminal, b"a")
        self.read_until("q to quit")
        os.write(self.terminal, b"q")
        self.assertEqual(self.exit_code(), 1)

    def test_ctrl_c_leaves_watch_cleanly(self):
        self.start("solution", "--watch")
        self.read_until("q to quit")
        os.write(self.terminal, b"\x03")
        self.assertNotIn("Traceback", self.seen)
        self.assertEqual(self.exit_code(), 130)


if __name__ == "__main__":
    unittest.main()
