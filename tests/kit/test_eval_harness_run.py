"""The provided eval harness with candidates that are honest, lie, cheat, hang, and leave things behind."""

import json
import os
import signal
import sys
import unittest

from harness import SUITE, HarnessTest, alive
from kit import wait_until

import eval_harness as lab
from eval_harness import SampleResult

POSIX = os.name == "posix"
FIX = "open('a.py', 'w').write('VALUE = 2\\n')\n"
CHEATS = {  # what an agent does instead of mending a.py
    "does nothing": "",
    "says so and exits with 0": "print('I fixed it. cost_units=3')",
    "rewrites the test": "open('check.py', 'w').write('')",
    "deletes the test": "import os; os.unlink('check.py')",
    "adds conftest.py": "open('conftest.py', 'w').write('import os; os._exit(0)')",
    "adds sitecustomize.py": "open('sitecustomize.py', 'w').write('import os; os._exit(0)')",
    "adds usercustomize.py and the standard library": "\n".join(
        f"open('{name}.py', 'w').write('import os; os._exit(0)')"
        for name in ("usercustomize", "site", "encodings", "builtins")
    ),
    "adds a folder that shadows the module": "import os; os.mkdir('a'); open('a/__init__.py', 'w').write('VALUE = 2')",
    "leaves compiled code": "import os, py_compile; open('b.py', 'w').write('VALUE = 2'); "
    "os.mkdir('__pycache__'); tag = __import__('sys').implementation.cache_tag; "
    "py_compile.compile('b.py', cfile=f'__pycache__/a.{tag}.pyc')",
    "deletes the file": "import os; os.unlink('a.py')",
    "deletes everything": "import shutil; shutil.rmtree('.', ignore_errors=True)",
    "puts a folder there": "import os; os.unlink('a.py'); os.mkdir('a.py')",
    "leaves it empty": "open('a.py', 'w')",
    "writes to the folder above": "open('../a.py', 'w').write('VALUE = 2')",
    "deletes the folder above": "import shutil; shutil.rmtree('..', ignore_errors=True)",
    "makes a folder for the check of its own": "import os\nfor n in ('check', 'home'):\n"
    "    os.makedirs(f'../{n}', exist_ok=True)\n    open(f'../{n}/a.py', 'w').write('VALUE = 2')",
}
POSIX_CHEATS = {
    "links to the known fix": "import os; os.unlink('a.py'); os.symlink(os.environ['EXPECTED'] + '/a.py', 'a.py')",
    "leaves a pipe": "import os; os.unlink('a.py'); os.mkfifo('a.py')",
    "leaves a link to a device": "import os; os.unlink('a.py'); os.symlink('/dev/zero', 'a.py')",
    "leaves a link to itself": "import os; os.unlink('a.py'); os.symlink('a.py', 'a.py')",
    "replaces the folder above by a link": "import os; p = os.path.dirname(os.getcwd()); "
    "os.rename(p, p + 'x'); os.symlink(os.environ['EXPECTED'], p)",
    "replaces its folder by a link": "import os; p = os.getcwd(); os.chdir('..'); "
    "os.rename(p, p + '2'); os.symlink(os.environ['EXPECTED'], p)",
}


class Suite(unittest.TestCase):
    def test_noop_passes_none_and_the_reference_all(self):
        tasks = lab.load_suite(SUITE)
        self.assertEqual(len(tasks), 5)
        self.assertEqual({task.verifier["name"] for task in tasks}, {"file_equals", "regex_match", "shell_exit_zero"})
        for candidate, passes in ((lab.noop, 0), (lab.apply_known_fixes(tasks), 5)):
            totals = lab.EvalHarness(tasks, jobs=2).run(candidate).to_dict()["totals"]
            self.assertEqual((totals["passes"], totals["errors"], totals["samples"]), (passes, 0, 5))

    def test_every_task_is_an_issue_with_a_test_that_may_not_be_edited(self):
        for task in lab.load_suite(SUITE):
            with self.subTest(task=task.id):
                tests = [path for path in task.buggy if path.startswith("test_")]
                self.assertEqual(len(tests), 1)
                self.assertNotIn(tests[0], task.editable)
                self.assertGreater(len(task.goal.split()), 20)
                verifier = {"name": "shell_exit_zero", "args": {"argv": ["{python}", tests[0]], "timeout_seconds": 20}}
                tested = lab.FixtureTask(task.id, task.goal, task.editable, verifier, task.buggy, task.expected)
                for candidate, passes in ((lab.noop, 0), (lab.apply_known_fixes([tested]), 1)):
                    self.assertEqual(lab.EvalHarness([tested]).run(candidate).totals["passes"], passes)


class Candidates(HarnessTest):
    def test_what_a_candidate_does_besides_does_not_count(self):
        """Each cheat is one task; with MEND set, the agent mends a.py after it, where its folder is still there."""
        cheats = {**CHEATS, **(POSIX_CHEATS if POSIX else {})}
        suite = self.suite([f"cheat{number}" for number in range(len(cheats))])
        agent = f"import os\nCHEATS = {list(cheats.values())!r}\nexec(CHEATS[int(os.environ['EVAL_TASK_ID'][5:])])\n"
        mend = (
            "if os.environ['MEND']:\n"
            "    if os.path.isdir('a.py') and not os.path.islink('a.py'): os.rmdir('a.py')\n"
            "    if os.path.lexists('a.py'): os.unlink('a.py')\n"
            f"    {FIX}"
        )
        for status, mends in (("fail", ""), ("pass", "yes")):
            env = {"EXPECTED": str(suite / "tasks" / "cheat0" / "expected"), "MEND": mends}
            report, _ = self.measured(agent + mend, "--jobs", 3, env=env)
            for what, task in zip(cheats, report["tasks"]):
                if not (
                    mends
                    and what
                    in (
                        "deletes everything",
                        "deletes the folder above",
                        "replaces its folder by a link",
                        "replaces the folder above by a link",
                    )
                ):
                    with self.subTest(agent=what, mends=bool(mends)):
                        self.assertEqual(
                            (task["details"][0]["status"], task["details"][0]["success_self_reported"]), (status, True)
                        )
        self.assertEqual(os.listdir(suite / "tasks" / "cheat0" / "expected"), ["a.py"])

    def test_spoiling_the_suite_on_disk_wins_nothing(self):
        suite = self.suite(("one", "two"))
        spoil = f"import pathlib\nfor p in pathlib.Path({str(suite)!r}).rglob('*'):\n"
        spoil += "    p.is_file() and p.write_bytes(b'')\n"
        report, _ = self.measured(spoil, "--samples", 2)
        self.assertEqual([task["passes"] for task in report["tasks"]], [0, 0])

    def test_what_it_gets(self):
        """The goal on stdin as UTF-8, its environment, the files of buggy/, and no answer."""
        self.suite(editable=["a.py", "new/ä.py"])
        agent = (
            "import os, sys\n"
            "assert sys.stdin.buffer.read().decode('utf-8') == 'VALUE should be 2 — für alle'\n"
            "assert os.environ['EVAL_TASK_ID'] == 'one' and os.environ['KEPT'] == 'yes'\n"
            "assert os.environ['EVAL_EDITABLE'] == 'a.py\\nnew/ä.py', os.environ['EVAL_EDITABLE']\n"
            "assert sorted(os.listdir('.')) == ['a.py', 'check.py'], os.listdir('.')\n"
        )
        report, lines = self.measured("# coding: utf-8\n" + agent + FIX, env={"KEPT": "yes", "PYTHONUTF8": "1"})
        self.assertEqual(report["totals"]["passes"], 1, lines)
        told = []

        def candidate(task, scratch_dir):
            told.append((task, sorted(os.listdir(scratch_dir))))
            return SampleResult()

        self.sample(candidate)
        self.assertEqual(
            told,
            [(lab.FixtureTask("one", "VALUE should be 2 — für alle", ("a.py", "new/ä.py")), ["a.py", "check.py"])],
        )

    def test_claim_and_cost(self):
        self.suite()
        rows = [
            ("print('cost_units=7')", ("pass", 7.0, True)),
            ("print('cost_units=1'); print('cost_units=2.5'); print('bye')", ("pass", 2.5, True)),
            ("import sys; print('cost_units=4', file=sys.stderr)", ("pass", 4.0, True)),
            ("print('the cost_units=9 are not a line')", ("pass", 0.0, True)),
            ("print('cost_units=3'); raise SystemExit(3)", ("pass", 3.0, False)),
            ("print('cost_units=many')", ("error", 0.0, None)),
            ("print('cost_units=')", ("error", 0.0, None)),
            ("print('cost_units=nan')", ("error", 0.0, None)),
            ("print('cost_units=-1')", ("error", 0.0, None)),
            ("print('x' * 300000); print('cost_units=5')", ("pass", 5.0, True)),
        ]
        for end, expected in rows:
            with self.subTest(end=end):
                detail = self.measured(FIX + end)[0]["tasks"][0]["details"][0]
                self.assertEqual((detail["status"], detail["cost_units"], detail["success_self_reported"]), expected)
                self.assertEqual("cost_units" in detail["detail"], expected[0] == "error")

    def test_what_fails_is_shown_before_the_line_of_its_sample(self):
        self.suite(("one", "two"))
        agent = "import os\nprint('first', os.getcwd())\n"
        agent += "print('\\x1b[31mlast ' + os.environ['EVAL_TASK_ID'])\nraise SystemExit(4)"
        _, lines = self.measured(agent, "--jobs", 2)
        self.assertEqual(lines[:2], ["    first .", "    \\x1b[31mlast one"])
        self.assertTrue(lines[2].startswith("one 1/1: fail: exit code 1: "))
        self.assertEqual(lines[3:5], ["    first .", "    \\x1b[31mlast two"])

    def test_a_python_candidate_that_lies_or_fails(self):
        self.suite()

        def fix(task, scratch_dir, **claims):
            with open(os.path.join(scratch_dir, "a.py"), "w", encoding="utf-8") as file:
                file.write("VALUE = 2\n")
            return SampleResult(**claims)

        def raising(error):
            def candidate(task, scratch_dir):
                raise error

            return candidate

        rows = [
            (lambda *args: fix(*args, success_self_reported=False), "pass", ""),
            (lambda *args: SampleResult(True, -5.0, 0.0, ("a.py",)), "fail", ""),
            (lambda *args: SampleResult(cost_units="3"), "error", "cost_units"),
            (lambda *args: SampleResult(success_self_reported=1), "error", "success_self_reported"),
            (lambda *args: None, "error", "SampleResult"),
            (lambda *args: {"success_self_reported": True, "cost_units": 0.0}, "error", "SampleResult"),
            (lambda *args: sys.exit(0), "error", "SystemExit"),
            (raising(RuntimeError("no model")), "error", "RuntimeError: no model"),
            (raising(GeneratorExit("gone")), "error", "GeneratorExit"),
            (raising(lab.ScenarioError("mine")), "error", "ScenarioError: mine"),
        ]
        for number, (candidate, status, words) in enumerate(rows):
            with self.subTest(row=number):
                sample = self.sample(candidate)
                self.assertEqual(sample["status"], status)
                self.assertIn(words, sample["detail"])
                self.assertGreaterEqual(sample["latency_ms"], 0)

    def test_ctrl_c_in_a_candidate_ends_the_run(self):
        self.suite()

        def candidate(task, scratch_dir):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.sample(candidate)


class Limits(HarnessTest):
    def test_a_candidate_past_its_limit_is_an_error_and_the_run_goes_on(self):
        self.suite(("one", "two"))
        agent = (
            "import os, time\n"
            + FIX
            + "print('begun', flush=True)\nif os.environ['EVAL_TASK_ID'] == 'one': time.sleep(60)\n"
        )
        report, lines = self.measured(agent, "--timeout", 1.5)
        self.assertEqual([task["details"][0]["status"] for task in report["tasks"]], ["error", "pass"])
        self.assertIn("1.5 s", report["tasks"][0]["details"][0]["detail"])
        self.assertEqual(lines[0], "    begun")
        self.assertGreater(report["tasks"][0]["details"][0]["latency_ms"], 1400)

    def test_output_without_end(self):
        self.suite()
        for agent in (
            "while True: print('y' * 1000)",
            "import os\nos.close(1)\nos.close(2)\nimport time\ntime.sleep(60)",
        ):
            with self.subTest(agent=agent):
                report, lines = self.measured(agent, "--timeout", 1)
                self.assertEqual(report["totals"]["errors"], 1)
                self.assertLess(sum(map(len, lines)), 5000)

    def test_a_verifier_past_its_limit(self):
        args = {
            "argv": ["{python}", "-c", "import time; print('begun', flush=True); time.sleep(60)"],
            "timeout_seconds": 1,
        }
        self.suite(verifier={"name": "shell_exit_zero", "args": args})
        detail = self.sample(lab.noop)
        self.assertEqual(detail["status"], "fail")
        for words in ("1 s", "begun"):
            self.assertIn(words, detail["detail"])

    def test_a_verifier_that_cannot_start(self):
        self.suite(
            verifier={"name": "shell_exit_zero", "args": {"argv": ["no-such-program-here"], "timeout_seconds": 1}}
        )
        detail = self.sample(lab.noop)
        self.assertEqual(detail["status"], "fail")
        self.assertIn("no-such-program-here", detail["detail"])

    def test_a_verifiers_command_is_shut_in(self):
        """PATH and a HOME of its own, no stdin, its folder as `.`; the last 2,000 characters are kept."""
        code = (
            "import os, sys\n"
            "print('x' * 5000)\n"
            "others = {'LC_CTYPE', 'SYSTEMROOT', 'PATHEXT', 'COMSPEC', '__CF_USER_TEXT_ENCODING'}\n"
            "print(sorted(set(os.environ) - others))\n"
            "print(os.listdir(os.environ['HOME']), sys.stdin.read() == '', os.getcwd(), os.environ['HOME'])\n"
            "sys.exit(5)\n"
        )
        self.suite(
            verifier={"name": "shell_exit_zero", "args": {"argv": ["{python}", "-c", code], "timeout_seconds": 20}}
        )
        detail = self.sample(lab.noop)["detail"]
        names = ["HOME", "PATH", "TMPDIR"] if POSIX else ["HOME", "PATH", "TEMP", "TMP", "USERPROFILE"]
        self.assertTrue(detail.endswith(f"{names}\n[] True . ~\n"), detail[-200:])
        self.assertIn("5", detail[:20])
        self.assertLess(len(detail), 2100)

    def test_what_is_too_large_is_not_read(self):
        self.suite()
        report, _ = self.measured(f"with open('a.py', 'wb') as f:\n    f.truncate({lab.FILE_LIMIT + 1})\n")
        detail = report["tasks"][0]["details"][0]
        self.assertEqual(detail["status"], "fail")
        self.assertIn("64 MiB", detail["detail"])


@unittest.skipUnless(POSIX, "Windows: what lost its parent gets away, as TASK.md says")
class LeftBehind(HarnessTest):
    def test_a_process_that_outlives_the_agent_is_ended_before_its_work_is_read(self):
        self.suite()
        agent = (
            "import os, sys, time\n"
            "if os.fork() == 0:\n"
            f"    open({str(self.folder / 'pid')!r}, 'w').write(str(os.getpid()))\n"
            "    time.sleep(1.5)\n" + "    open('a.py', 'w').write('VALUE = 2')\n    time.sleep(60)\n"
            f"while not os.path.exists({str(self.folder / 'pid')!r}): time.sleep(0.01)\n"
        )
        report, _ = self.measured(agent)
        self.assertEqual(report["tasks"][0]["details"][0]["status"], "fail")
        number = int((self.folder / "pid").read_text())
        self.assertTrue(wait_until(lambda: not alive(number), 10.0))

    def test_one_that_left_its_session_holds_nobody_up(self):
        self.suite()
        pid = self.folder / "pid"
        agent = (
            "import os, time\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            f"    open({str(pid)!r}, 'w').write(str(os.getpid()))\n"
            "    time.sleep(30)\n"
            f"while not os.path.exists({str(pid)!r}): time.sleep(0.01)\n" + FIX
        )
        started = os.times().elapsed
        report, _ = self.measured(agent)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        self.assertEqual(report["totals"]["passes"], 1)
        self.assertLess(os.times().elapsed - started, 20)

    def test_rights_taken_away_are_given_back(self):
        rows = {
            "the file": "import os\n" + FIX + "os.chmod('a.py', 0)\n",
            "its folder": "import os\n" + FIX + "os.chmod('.', 0)\n",
            "a folder in it": "import os\n"
            + FIX
            + "os.makedirs('d/e/f')\nopen('d/e/f/g', 'w')\n"
            + "for path in ('d/e/f', 'd/e', 'd'):\n    os.chmod(path, 0)\n",
            "nested deeply": "import os\n" + FIX + "for _ in range(1500):\n    os.mkdir('d'); os.chdir('d')\n",
        }
        self.suite()
        for what, agent in rows.items():
            with self.subTest(what=what):
                self.assertEqual(self.measured(agent)[0]["totals"]["passes"], 1)


class Bytes(HarnessTest):
    def clock(self):
        times = iter(range(10**6))
        return lambda: next(times) / 8

    def report(self, **options):
        tasks = lab.load_suite(SUITE)
        harness_made = lab.EvalHarness(tasks, 2, (1, 2), **options)
        return json.dumps(harness_made.run(lab.apply_known_fixes(tasks)).to_dict())

    def test_the_same_suite_candidate_and_clock_give_the_same_bytes(self):
        self.assertEqual(self.report(clock=self.clock()), self.report(clock=self.clock()))
        self.assertEqual(self.report(clock=lambda: 1.0), self.report(clock=lambda: 1.0, jobs=3))

    def test_the_digest_is_of_content_and_order_alone(self):
        digest = lambda folder: lab.suite_digest(lab.load_suite(folder))
        suite = self.suite(("one", "two"))
        first = digest(suite)
        for task in suite.glob("tasks/*/task.json"):
            record = json.loads(task.read_text(encoding="utf-8"))
            task.write_text(
                json.dumps({"note": "more", **dict(reversed(list(record.items())))}, indent=3), encoding="utf-8"
            )
        (suite / "README").write_text("more")
        (suite / "tasks" / "README").write_text("more")
        (suite / "tasks" / "one" / "buggy" / "__pycache__").mkdir()
        (suite / "tasks" / "one" / "buggy" / "__pycache__" / "a.pyc").write_text("more")
        self.assertEqual(digest(suite), first)
        (suite / "suite.json").write_text(json.dumps({"tasks": ["two", "one"]}), encoding="utf-8")
        self.assertNotEqual(digest(suite), first)
        (suite / "suite.json").write_text(json.dumps({"tasks": ["one", "two"]}), encoding="utf-8")
        (suite / "tasks" / "two" / "buggy" / "check.py").write_text("pass")
        self.assertNotEqual(digest(suite), first)

    def test_the_report_has_the_fields_that_task_names(self):
        report = json.loads(self.report())
        numbers = {
            "samples",
            "passes",
            "errors",
            "pass_at_k",
            "mean_latency_ms",
            "p95_latency_ms",
            "mean_cost",
            "total_cost",
            "pass_at_k_plug_in",
        }
        self.assertEqual(list(report), ["schema_version", "suite_sha256", "samples", "ks", "totals", "tasks"])
        self.assertEqual(report["totals"].keys(), {"tasks", "pass_at_1", *numbers})
        for task in report["tasks"]:
            self.assertEqual(task.keys(), {"task_id", "details", "pass_rate", *numbers})
            for sample in task["details"]:
                self.assertEqual(
                    sample.keys(), {"status", "detail", "latency_ms", "cost_units", "success_self_reported"}
                )

    def test_pass_at_k_of_the_totals_is_the_mean_over_tasks(self):
        self.suite(("one", "two", "three"))
        tries = {}

        def candidate(task, scratch_dir):
            tries[task.id] = tries.get(task.id, 0) + 1
            if tries[task.id] <= {"one": 0, "two": 1, "three": 4}[task.id]:
                with open(os.path.join(scratch_dir, "a.py"), "w", encoding="utf-8") as file:
                    file.write("VALUE = 2\n")
            return SampleResult()

        totals = lab.EvalHarness(lab.load_suite(self.folder / "suite"), 5, (1, 5)).run(candidate).to_dict()["totals"]
        self.assertEqual((totals["pass_at_1"], totals["pass_at_k"]), (0.333333, {"1": 0.333333, "5": 0.666667}))
        self.assertEqual(
            totals["pass_at_k_plug_in"], {"1": 0.333333, "5": round((0 + (1 - 0.8**5) + (1 - 0.2**5)) / 3, 6)}
        )


class Checks(unittest.TestCase):
    def test_pass_at_k_counts_all_subsets(self):
        import itertools

        for n in range(1, 9):
            for c, k in itertools.product(range(n + 1), range(1, n + 1)):
                draws = list(itertools.combinations(range(n), k))
                share = sum(any(one < c for one in draw) for draw in draws) / len(draws)
                self.assertAlmostEqual(lab.pass_at_k(n, c, k), share, delta=1e-12)

    def test_p95_is_the_nearest_rank_of_a_sorted_list(self):
        sample = {"status": "pass", "cost_units": 0.0}
        for n in range(1, 101):
            latencies = [float((37 * place) % 101) for place in range(n)]
            got = lab.summarize([{**sample, "latency_ms": latency} for latency in latencies], ())["p95_latency_ms"]
            place = next(place for place in range(1, n + 1) if 100 * place >= 95 * n)
            self.assertEqual(got, sorted(latencies)[place - 1])


if __name__ == "__main__":
    unittest.main()
