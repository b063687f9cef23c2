"""What a student meets besides the first failure: a wrong command, a file that does not load, a loop, the debugger, fifteen."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from kit import KIT, run, solution_of

SOLUTION = solution_of("ticket_triage")
CHECKED = "    return _checked(_decode(raw), categories)"


class Student(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-student-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "ticket_triage.py"

    def copy_of_kit(self):
        """Return a folder with what students have and the solution."""
        kit = self.folder / "kit"
        shutil.copytree(KIT, kit, ignore=shutil.ignore_patterns(".git", "kit", "__pycache__"))
        return kit

    def write(self, instead, old=CHECKED):
        self.assertEqual(SOLUTION.count(old), 1)
        self.file.write_text(SOLUTION.replace(old, instead), encoding="utf-8")

    def verify(self, *arguments, **options):
        return run("verify.py", *arguments, **options)

    def said(self, *arguments, **options):
        return " ".join(self.verify(*arguments, **options).stdout.split())

    def test_a_wrong_command_names_the_one_that_is_meant(self):
        rows = [
            (["starter", "P5"], "P5: no such file or folder; did you mean -k P5?"),
            (["starter", "run_tool_call"], "did you mean -k run_tool_call?"),
            (["starter", "--hnit"], "--hnit; did you mean --hint?"),
            (["starter", "--wach"], "did you mean --watch?"),
            (["starte"], "did you mean starter?"),
            (["starter/ticket_triag.py"], "ticket_triage.py"),
            (["nothing-like-it"], "nothing-like-it: no such file or folder"),
            (["judge"], "judge: no such file or folder; did you mean starter/judge.py?"),
            (["doc_assist.py"], "did you mean starter/doc_assist.py?"),
            (["starter/judge.py", "starter/doc_assist.py"], "the files are of several labs (judge, doc_assist)"),
            ([""], "expected the name of a file or folder, got an empty one"),
            (["starter", " "], "expected the name of a file or folder, got an empty one"),
        ]
        for words, part in rows:
            with self.subTest(words=words):
                done = self.verify(*words)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
                self.assertIn(part, done.stderr)

    def test_ctrl_c_while_the_kit_is_read_leaves_no_traceback(self):
        for module in ("grader.guard", "grader.place", "grader.text"):
            lines = [
                "import runpy, signal, sys",
                "class Stop:",
                "    def find_spec(self, name, path=None, target=None):",
                f"        if name == {module!r}: signal.raise_signal(signal.SIGINT)",
                "sys.meta_path.insert(0, Stop())",
                f"runpy.run_path({str(KIT / 'verify.py')!r}, run_name='__main__')",
            ]
            with self.subTest(module=module):
                done = run("-c", "\n".join(lines))
                self.assertEqual((done.returncode, done.stdout, done.stderr), (130, "", ""))

    def test_a_file_that_was_deleted_can_be_had_again(self):
        kit = self.copy_of_kit()
        (kit / "starter" / "ticket_triage.py").unlink()
        for target in ("starter", "starter/ticket_triage.py"):
            done = run("verify.py", target, cwd=kit)
            self.assertEqual(done.returncode, 2)
            command = re.search(r"python (verify.py starter --reset --lab ticket_triage) gives you the original", done.stderr)[1]
        for _ in range(2):
            self.assertEqual(run(*command.split(), cwd=kit).returncode, 0)
            self.assertIn("0 of 15 passed", run("verify.py", "starter", cwd=kit).stdout)
            shutil.rmtree(kit / "starter")
            self.assertIn(command, run("verify.py", cwd=kit).stderr)

    def test_a_file_under_another_name_is_found(self):
        kit = self.copy_of_kit()
        file = kit / "starter" / "ticket_triage.py"
        rows = [
            ("triage.py", "is triage.py the one? Then save it as ticket_triage.py"),
            ("Ticket_Triage.py", "is Ticket_Triage.py the one? Then save it as ticket_triage.py"),
            ("ticket_triage (1).py", "is ticket_triage (1).py the one? Then save it as ticket_triage.py"),
            ("ticket_triage.py.txt", "is ticket_triage.py.txt the one? Then save it as ticket_triage.py"),
            ("ticket_triage.ipynb", "is ticket_triage.ipynb the one? Then export it as a .py file"),
            ("ticket_triage.py.bak", "--reset --lab ticket_triage gives you the original"),
            ("helpers.py", "--reset --lab ticket_triage gives you the original"),
        ]
        for name, part in rows:
            other = file.rename(file.with_name(name))
            for target in ("starter", "starter/ticket_triage.py"):
                with self.subTest(name=name, target=target):
                    if file.exists():  # the system takes both names for one
                        continue
                    done = run("verify.py", target, cwd=kit)
                    self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
                    self.assertIn(part, done.stderr)
            other.rename(file)
        done = run("verify.py", file.rename(f"{file}.txt"), cwd=kit)
        self.assertIn("expected a Python file, a folder or a zip: name it .py", done.stderr)

    def test_a_file_that_cannot_be_taken_is_named_once(self):
        rows = [(b"", "is empty"), ("x = 1\n".encode("utf-16"), "is not UTF-8 text"), (b"# caf\xe9\n", "Save it as UTF-8.")]
        for data, part in rows:
            with self.subTest(data=data):
                self.file.write_bytes(data)
                said = self.verify(self.file).stdout.splitlines()[2]
                self.assertTrue(said.startswith("ticket_triage.py is "), said)
                self.assertIn(part, self.said(self.file))

    def test_a_file_that_does_not_load_says_why(self):
        rows = [
            ("<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n", "merge conflict in line 1"),
            ("def f(x):\n    return (\n", f"(this is Python {sys.version.split()[0]})"),
            ("def f(x):\nreturn x\n", "IndentationError"),
        ]
        for text, part in rows:
            with self.subTest(text=text):
                self.file.write_text(text, encoding="utf-8")
                self.assertIn(part, self.said(self.file))

    def test_a_missing_name_and_a_changed_part(self):
        self.write("def parse_triages(raw, categories):", "def parse_triage(raw, categories):")
        line = SOLUTION.splitlines().index("def parse_triage(raw, categories):") + 1
        said = self.said(self.file)
        self.assertIn(f"Note: parse_triage is missing; is parse_triages (line {line}) meant?", said)
        self.assertNotIn("--reset", said)
        self.write("SUMMARY_LIMIT = 130", "SUMMARY_LIMIT = 120")
        said = self.said(self.file)
        self.assertIn("SUMMARY_LIMIT: provided, and changed here. The hand-out has `SUMMARY_LIMIT = 120", said)
        self.assertIn("--reset", said)

    def test_a_test_of_ones_own_is_told_what_does_not_cross(self):
        kit = self.copy_of_kit()
        tests = kit / "tests" / "test_ticket_triage.py"
        text, replay = tests.read_text(encoding="utf-8"), 'lab.ReplayClient(["no"])'
        head = 'class Mine(LabTest):\n    def test_t1_mine(self):\n        """T1 It is mine."""\n        '
        given = f'self.returns({{}}, lab.triage, "a", {replay}, categories=["b"])'
        for line in (given, f"{replay}([])", f"{replay}.requests", f"a, b = {replay}"):
            with self.subTest(line=line):
                tests.write_text(f"{text}\n\n{head}{line}\n", encoding="utf-8")
                said = " ".join(run("verify.py", "solution", "-k", "mine", cwd=kit).stdout.split())
                self.assertIn("why Opaque stands for an object of the submission, which stays in its process", said)
                self.assertIn("labtest's Client instead of lab.ReplayClient", said)

    def test_k_shows_the_clause_first_and_the_test(self):
        self.write("    return {}")
        said = self.said(self.file, "-k", "P8")
        self.assertRegex(said, r"TASK.md P8: .* test test_p2_refuses_all_but_one_json_object call")
        self.assertNotIn("TASK.md P2", said)

    def test_all_shows_a_trap_once(self):
        self.write("    return {}")
        said = self.verify(self.file, "--all").stdout
        whys = re.findall(r"TASK.md (\w+):.*?\n  why       ([^\n]*)", said, re.DOTALL)
        self.assertEqual(len(whys), len(set(whys)))
        self.assertRegex(said, r"more +\d+ others fail in the same way")
        self.assertLess(len(said.splitlines()), 500)

    def test_a_loop_without_end_costs_its_limit_once(self):
        self.write("    while True: pass")
        started = time.monotonic()
        said = self.said(self.file, "--timeout", "4", "--hint")
        self.assertLess(time.monotonic() - started, 6 * 4 + 4)  # six tests meet it, and three are cut short
        for part in ("it ran longer than 4 s", "while True:", "What makes it end?", "8 of 15 passed"):
            self.assertIn(part, said)

    @unittest.skipIf(os.name == "nt", "Ctrl-C is another signal")
    def test_ctrl_c_shows_what_is_known(self):
        self.write("    while raw.startswith('`'):\n        pass\n" + CHECKED)
        process = subprocess.Popen([sys.executable, "verify.py", self.file], cwd=KIT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (130, ""))
        self.assertIn("it was stopped with Ctrl-C while this call ran", out)
        self.assertIn("parse_triage(", out)

    def test_the_debugger_tells_the_call_and_q_ends_the_run(self):
        self.write(f"    breakpoint()\n{CHECKED}")
        done = self.verify(self.file, "--debug", stdin=None, input="p raw\nc\nq\ny\n")
        self.assertEqual(done.stdout.count("In the call parse_triage("), 2)
        self.assertIn("this is not a grade", done.stdout)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.returncode, 130)

    def test_after_fifteen_the_next_steps_are_named(self):
        kit = self.copy_of_kit()
        shutil.copy(kit / "solution" / "ticket_triage.py", kit / "starter")
        done = run("verify.py", "starter", cwd=kit)
        count, _, *after = done.stdout.splitlines()[-5:]
        self.assertEqual(count, "15 of 15 passed")
        command = re.search(r"python (\S+ \S+)", after[0])[1]
        self.assertEqual(run(*command.split(), cwd=kit).returncode, 0)
        command = re.search(r"python (\S+ \S+)", after[2])[1]
        self.assertIn("0 of 15 passed", run(*command.split(), cwd=kit).stdout)
        self.assertNotIn("Next:", run("verify.py", "solution", cwd=kit).stdout)


if __name__ == "__main__":
    unittest.main()
