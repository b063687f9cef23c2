"""The command line of the eval harness: wrong suites and options, reports, baselines, Ctrl-C, and agent.py."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from chat_server import Server, says
from harness import CHECK, PROGRAM, SUITE, HarnessTest, make_suite, make_task
from kit import KIT, run, wait_until

import eval_harness as lab

POSIX = os.name == "posix"
AGENT = KIT / "scenario" / "eval_harness" / "agent.py"


def shell(**args):
    return {"name": "shell_exit_zero", "args": {"argv": ["x"], "timeout_seconds": 1, **args}}


def regex(**args):
    return {"name": "regex_match", "args": {"path": "a.py", "pattern": "x", **args}}


UNSAFE = ["", " ", "/a.py", "./b.py", "../b.py", "d/../b.py", "d/.", "d//b.py", "d/", "d\\b.py", "c:b.py"]
UNSAFE += ["b\0.py", "b\n.py", "b\r.py", "\ud800", None, 5, ["b.py"]]
WRONG_TIMES = (0, -1, 86401, True, "5", None, float("nan"), float("inf"))
WRONG_TASKS = [  # (what is named, fields of the task)
    ("id", {"id": "other"}),
    ("id", {"id": None}),
    ("goal", {"goal": None}),
    ("goal", {"goal": " \n"}),
    ("goal", {"goal": 5}),
    ("goal", {"goal": "half a character: \ud800"}),
    ("setup", {"setup": None}),
    ("dir", {"setup": {}}),
    ("dir", {"setup": {"dir": "../buggy"}}),
    ("editable", {"editable": None}),
    ("editable", {"editable": []}),
    ("editable", {"editable": "a.py"}),
    ("editable", {"editable": {"a.py": 1}}),
    ("editable", {"editable": ["a.py", "a.py"]}),
    *(("editable", {"editable": ["a.py", path]}) for path in UNSAFE),
    ("editable", {"editable": ["a.py/b.py"]}),
    ("editable", {"editable": ["b.py", "b.py/c.py"]}),
    ("verifier", {"verifier": None}),
    ("verifier", {"verifier": "shell_exit_zero"}),
    ("name", {"verifier": {"args": {}}}),
    ("name", {"verifier": {"name": "no_such", "args": {}}}),
    ("name", {"verifier": {"name": ["file_equals"], "args": {}}}),
    ("args", {"verifier": {"name": "file_equals"}}),
    ("path", {"verifier": {"name": "file_equals", "args": {}}}),
    ("path", {"verifier": {"name": "file_equals", "args": {"path": "check.py"}}}),
    ("path", {"verifier": {"name": "file_equals", "args": {"path": "b.py"}}, "editable": ["a.py", "b.py"]}),
    ("path", {"verifier": regex(path="../a.py")}),
    ("pattern", {"verifier": {"name": "regex_match", "args": {"path": "a.py"}}}),
    ("pattern", {"verifier": regex(pattern="(")}),
    ("pattern", {"verifier": regex(pattern=5)}),
    ("argv", {"verifier": shell(argv=[])}),
    ("argv", {"verifier": shell(argv="make check")}),
    ("argv", {"verifier": shell(argv=["make", " "])}),
    ("argv", {"verifier": shell(argv=["make", 5])}),
    ("argv", {"verifier": shell(argv=["ma\0ke"])}),
    *(("timeout_seconds", {"verifier": shell(timeout_seconds=value)}) for value in WRONG_TIMES),
    ("buggy", {"buggy": {}}),
    ("expected", {"expected": {}}),
    ("buggy", {"buggy": {"__pycache__/a.pyc": ""}}),
]  # fmt: skip


class WrongSuites(HarnessTest):
    def refused(self, named, suite):
        with self.assertRaises(lab.ScenarioError) as caught:
            lab.load_suite(suite)
        message = str(caught.exception)
        self.assertIn(named, message)
        return message

    def test_a_wrong_task_is_refused_by_name_and_field(self):
        for number, (named, fields) in enumerate(WRONG_TASKS):
            with self.subTest(named=named, fields=ascii(fields)):
                suite = make_suite(self.folder / str(number), ("right", "wrong-one"))
                shutil.rmtree(suite / "tasks" / "wrong-one")
                make_task(suite, "wrong-one", **fields)
                self.assertIn("wrong-one", self.refused(named, suite))

    def test_a_wrong_list_of_tasks_is_refused(self):
        suite = self.suite(("one", "two"))
        rows = [
            ({"tasks": ["one", "two", "three"]}, "three"),
            ({"tasks": ["one"]}, "two"),
            ({"tasks": ["one", "two", "one"]}, "one"),
            ({"tasks": []}, "tasks"),
            ({"tasks": "one two"}, "tasks"),
            ({"tasks": ["one", "two", ".."]}, "tasks"),
            ({"tasks": ["one", "two", "tw o"]}, "tasks"),
            ({"tasks": ["one", "two", "zwö"]}, "tasks"),
            ({"tasks": ["one", "two", ""]}, "tasks"),
            ({"tasks": ["one", "two\n"]}, "tasks"),
            ({"tasks": ["one", "two", 3]}, "tasks"),
            ({}, "tasks"),
            ([], "suite.json"),
            ('{"tasks": ["one"', "line 1"),
        ]
        for record, named in rows:
            with self.subTest(record=record):
                (suite / "suite.json").write_text(
                    record if isinstance(record, str) else json.dumps(record), encoding="utf-8"
                )
                self.refused(named, suite)
        (suite / "suite.json").unlink()
        self.refused("suite.json", suite)

    @unittest.skipUnless(POSIX, "links and pipes")
    def test_links_and_what_is_not_a_file_are_refused(self):
        places = ("tasks/one/buggy/b.py", "tasks/one/expected/d", "tasks/one/more", "tasks/more")
        for number, (place, make) in enumerate([(place, make) for place in places for make in ("link", "pipe")]):
            with self.subTest(place=place, make=make):
                suite = make_suite(self.folder / f"links{number}")
                os.symlink(self.folder, suite / place) if make == "link" else os.mkfifo(suite / place)
                if make == "link" or "/buggy/" in place or "/expected/" in place:
                    self.refused(place, suite)
                else:
                    self.assertEqual(len(lab.load_suite(suite)), 1)


class WrongOptions(HarnessTest):
    def test_each_is_one_line_that_names_it_before_any_agent_starts(self):
        self.suite()
        (self.folder / "not.json").write_text("{}", encoding="utf-8")
        agent = ["--candidate", self.script(f"open({str(self.folder / 'started')!r}, 'w')")]
        wrong = {
            "--samples": ["0", "-1", "1.5", "x", "9" * 5000, "\u0663", "1_0"],
            "--k": ["2", "0", "1,", "1,1", "one", ""],
            "--jobs": ["0", "two"],
            "--timeout": ["0", "nan", "inf", "86401", "soon"],
            "--min-pass": ["1.1", "-0.1", "nan", "half" * 500],
            "--candidate": ["no-such-agent-here x", "", "'open", "./suite"],
        }
        rows = [([option, value], option) for option, values in wrong.items() for value in values]
        rows += [(["--no-such"], "--no-such"), (["--sam", "2"], "--sam"), (["more"], "more"), (["--out"], "--out")]
        rows += [(["--baseline", path], path or "No such file") for path in ("missing.json", "not.json", "suite", "")]
        for words, named in rows:
            with self.subTest(words=ascii(words)[:80]):
                done = self.run_program(*agent, *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(named, done.stderr)
                self.assertLess(len(done.stderr), 400)
                self.assertFalse((self.folder / "started").exists())

    def test_a_function_that_is_not_written_is_named_before_any_agent_starts(self):
        self.suite()
        started = self.folder / "started"
        for function in ("shell_exit_zero", "lay_over", "run_sample", "pass_at_k", "summarize"):
            with self.subTest(function=function):
                text = PROGRAM.read_text(encoding="utf-8").replace(
                    "\nif __name__ ==",
                    f"\ndef {function}(*args):\n    raise NotImplementedError('write {function}')\n\n\nif __name__ ==",
                )
                (self.folder / "mine.py").write_text(text, encoding="utf-8")
                env = {"PYTHONPATH": str(KIT / "solution")}
                done = self.run_program(
                    "--candidate",
                    self.script(f"open({str(started)!r}, 'w')"),
                    program=self.folder / "mine.py",
                    env=env,
                )
                self.assertEqual(
                    (done.returncode, done.stdout, done.stderr), (2, "", f"eval_harness.py: write {function}\n")
                )
                self.assertFalse(started.exists())
        done = self.run_program(program=KIT / "starter" / "eval_harness.py")
        self.assertEqual(
            (done.returncode, done.stdout, done.stderr), (2, "", "eval_harness.py: write shell_exit_zero\n")
        )

    def test_the_harness_names_what_cannot_be(self):
        tasks = lab.load_suite(self.suite())
        rows = [("tasks", [], {}), ("tasks", tasks * 2, {}), ("jobs", tasks, {"jobs": 0})]
        rows += [("samples", tasks, {"samples": value}) for value in (0, True, 2.0, "2")]
        rows += [("k", tasks, {"samples": 3, "ks": ks}) for ks in ((4,), (0,), (1, 4), (True,), (1, 1))]
        for named, chosen, options in rows:
            with self.subTest(options=options):
                with self.assertRaisesRegex(lab.ScenarioError, named):
                    lab.EvalHarness(chosen, **options)


class Reports(HarnessTest):
    def test_out_gets_what_stdout_gets(self):
        self.suite()
        done = self.run_program("--out", "report.json")
        self.assertEqual((self.folder / "report.json").read_text(encoding="utf-8"), done.stdout)
        self.assertEqual(json.loads(done.stdout)["totals"]["passes"], 1)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])

    def test_out_that_cannot_be_written_is_said_after_printing(self):
        self.suite()
        rows = ["no/such/folder/report.json", "suite", ""] + (["/dev/full"] if os.path.exists("/dev/full") else [])
        for out in rows:
            with self.subTest(out=out):
                done = self.run_program("--out", out)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(json.loads(done.stdout)["totals"]["passes"], 1)
                self.assertIn("--out", done.stderr.splitlines()[-1])

    def test_an_old_report_stays_when_the_new_one_cannot_be_finished(self):
        self.suite()
        (self.folder / "report.json").write_text("old", encoding="utf-8")
        process = self.start("--out", "report.json", "--candidate", self.script("import time\ntime.sleep(60)"))
        self.assertTrue(wait_until(lambda: any(path.is_dir() for path in self.temporary.iterdir()), 10.0))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual((self.folder / "report.json").read_text(encoding="utf-8"), "old")

    @unittest.skipUnless(os.path.exists("/dev/full"), "a device that is full")
    def test_a_full_or_closed_stdout_is_exit_code_2(self):
        self.suite()
        for end in (">/dev/full", ">&-", "| true"):
            with self.subTest(end=end):
                shown = f'{sys.executable} {PROGRAM} suite --out report.json {end}; echo "${{PIPESTATUS[0]}}" >&2'
                options = {"cwd": self.folder, "env": {**os.environ, **self.environment()}, "encoding": "utf-8"}
                done = subprocess.run(["bash", "-c", shown], capture_output=True, check=False, timeout=60, **options)
                lines = done.stderr.splitlines()
                if end != "| true":  # a pipe may take the report before its reader ends
                    self.assertEqual(lines[-1], "2")
                    self.assertIn("stdout", lines[-2])
                self.assertNotIn("Exception ignored", done.stderr)
                self.assertTrue(json.loads((self.folder / "report.json").read_text(encoding="utf-8")))

    def test_a_baseline_gates_and_has_to_fit(self):
        self.suite(("one", "two"))
        self.run_program("--out", "base.json")
        done = self.run_program("--baseline", "base.json", "--candidate", "noop", "--out", "base2.json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(
            done.stderr.splitlines()[-3:],
            ["pass@1=0.0 passes=0/2 errors=0 min_pass=0.0", "regressed: one", "regressed: two"],
        )
        self.assertEqual(self.run_program("--baseline", "base2.json").returncode, 0)
        base = json.loads((self.folder / "base.json").read_text(encoding="utf-8"))
        first, second = base["tasks"]
        tasks = [
            (None, "tasks"),
            ([], "one"),
            ([first], "two"),
            ([5, 6], "tasks"),
            ([{**first, "passes": 2}, second], "passes"),
            ([{"task_id": "one"}], "passes"),
            ([first, second, {"task_id": "three", "passes": 0}], "three"),
            ([first, first, second], "one"),
        ]
        rows = [({"tasks": changed}, named) for changed, named in tasks]
        rows += [
            ({"schema_version": 2}, "schema_version"),
            ({"samples": 2}, "samples"),
            ({"samples": True}, "samples"),
        ]
        rows += [({"suite_sha256": value}, "suite_sha256") for value in ("0", None)]
        for changes, named in rows:
            with self.subTest(changes=ascii(changes)[:60]):
                (self.folder / "wrong.json").write_text(json.dumps({**base, **changes}), encoding="utf-8")
                done = self.run_program("--baseline", "wrong.json")
                self.assertEqual(
                    (done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr
                )
                self.assertIn(named, done.stderr)

    def test_samples_side_by_side_give_the_same_report_and_lines(self):
        self.suite(("one", "two", "three"))
        agent = self.script(
            "import os, random, time\n"
            "time.sleep(random.random() / 5)\n"
            "if os.environ['EVAL_TASK_ID'] != 'two': open('a.py', 'w').write('VALUE = 2')\n"
        )
        seen = []
        for jobs in (1, 4):
            done = self.run_program("--candidate", agent, "--samples", 2, "--k", "1,2", "--jobs", jobs)
            report = json.loads(done.stdout)
            for part in (
                report["totals"],
                *report["tasks"],
                *(one for task in report["tasks"] for one in task["details"]),
            ):
                for name in [name for name in part if name.endswith("_ms")]:
                    del part[name]
            seen.append((report, done.stderr))
        self.assertEqual(seen[0], seen[1])

    @unittest.skipUnless(POSIX, "a terminal of its own")
    def test_a_terminal_shows_how_far_it_is(self):
        import pty

        self.suite(("one", "two"))
        near, far = pty.openpty()
        options = {"cwd": self.folder, "env": {**os.environ, **self.environment()}, "stdout": subprocess.PIPE}
        with subprocess.Popen([sys.executable, str(PROGRAM), "suite"], stderr=far, **options) as process:
            out = process.stdout.read()
        os.close(far)
        shown = os.read(near, 1 << 16).decode()
        os.close(near)
        self.assertEqual(json.loads(out)["totals"]["passes"], 2)
        self.assertIn("0 of 2 samples", shown)
        self.assertIn("1 of 2 samples", shown)
        self.assertIn("\rtwo 1/1: pass", shown)


class Interrupted(HarnessTest):
    def test_ctrl_c_and_sigterm_end_all_and_leave_nothing(self):
        self.suite(("one", "two", "three"))
        pids = self.folder / "pids"
        pids.mkdir()
        agent = f"import os, time\nopen(os.path.join({str(pids)!r}, str(os.getpid())), 'w')\ntime.sleep(60)"
        for number in (signal.SIGINT, signal.SIGTERM) if POSIX else (signal.CTRL_C_EVENT,):
            with self.subTest(signal=number):
                process = self.start("--candidate", self.script(agent), "--jobs", 2, "--out", "report.json")
                before = len(os.listdir(pids))
                self.assertTrue(wait_until(lambda: len(os.listdir(pids)) >= before + 2, 10.0))
                process.send_signal(number)
                out, err = process.communicate(timeout=30)
                self.assertEqual((process.returncode, out, err), (130, "", ""))
                self.check_nothing_left()
                self.assertFalse((self.folder / "report.json").exists())
                for name in os.listdir(pids):
                    with self.assertRaises(OSError):
                        os.kill(int(name), 0)


class SmallAgent(HarnessTest):
    def serve(self, *acts):
        server = Server(*acts)
        self.addCleanup(server.close)
        return server

    def measured_with(self, *acts, code=0):
        server = self.serve(*acts)
        command = f'"{Path(sys.executable).as_posix()}" "{AGENT.as_posix()}" --base-url {server.url} --model tiny'
        env = {"no_proxy": "*", "OPENAI_API_KEY": "sk-test-123456789"}
        done = self.run_program("--candidate", command, env=env)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)["tasks"][0]["details"][0], done.stderr, server.requests

    def test_it_asks_for_the_file_and_writes_it(self):
        self.suite()
        detail, _, requests = self.measured_with(says("Here it is:\n```python\nVALUE = 2\n```\nThat is all."))
        self.assertEqual(
            (detail["status"], detail["cost_units"], detail["success_self_reported"]), ("pass", 10.0, True)
        )
        self.assertEqual(requests[0]["headers"]["Authorization"], "Bearer sk-test-123456789")
        asked = requests[0]["body"]["messages"]
        self.assertIn("a.py", asked[0]["content"])
        for text in ("VALUE should be 2 — für alle", "VALUE = 1", CHECK.splitlines()[1]):
            self.assertIn(text, asked[1]["content"])

    def test_a_reply_without_one_file_is_not_written(self):
        self.suite()
        for reply in ("VALUE = 2", "```\nVALUE = 2", "```\nVALUE = 2\n```\nor\n```\nVALUE = 3\n```", ""):
            with self.subTest(reply=reply):
                detail, err, _ = self.measured_with(says(reply))
                self.assertEqual((detail["status"], detail["success_self_reported"]), ("fail", False))
                self.assertIn("    a.py: ", err)

    def test_a_server_that_fails_is_said(self):
        self.suite()
        detail, err, _ = self.measured_with(
            lambda handler: handler.send(401, '{"error": {"message": "who are you?"}}')
        )
        self.assertEqual(
            (detail["status"], detail["cost_units"], detail["success_self_reported"]), ("fail", 0.0, False)
        )
        self.assertIn("who are you?", err)

    def test_it_says_what_is_wrong_with_its_command_line(self):
        done = run(AGENT, "--base-url", "nowhere", "--model", "tiny")
        self.assertEqual((done.returncode, done.stderr), (2, ""))
        self.assertIn("--base-url", done.stdout)


class TaskPage(HarnessTest):
    def test_the_script_that_task_shows_mends_one_task(self):
        page = (SUITE / "TASK.md").read_text(encoding="utf-8")
        script = page.partition("This one, `fixer.py`")[2].partition("```\n")[2].partition("```")[0]
        done = self.run_program("--candidate", self.script(script, "fixer.py"), suite=SUITE)
        report = json.loads(done.stdout)
        self.assertEqual([task["passes"] for task in report["tasks"]], [1, 0, 0, 0, 0])
        self.assertEqual(report["totals"]["total_cost"], 5.0)


if __name__ == "__main__":
    unittest.main()
