"""What scenario/record.py is held to, against a server of these tests' own that misbehaves on demand."""

import _thread
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from chat_server import KEY, KIT, ServerTest, keeps_silent, load, refuses, says

record = load("record")

# ---- the command

CATEGORIES = ["billing", "delivery"]
CASES = [
    {"id": "cup", "ticket": "The cup is broken.", "expected": {"category": "delivery", "needs_human": True}},
    {"id": "late", "ticket": "Where is TT-1?", "expected": {"category": "delivery", "needs_human": False}},
    {"id": "paid-zwölf", "ticket": "Paid twice.", "expected": {"category": "billing", "needs_human": True}},
    {"id": "odd", "ticket": "Hm \u2028 ?", "expected": {"category": "billing", "needs_human": False}},
]
SCENARIO = {
    "name": "A small shop",
    "categories": CATEGORIES,
    "min_accuracy": 0.9,
    "tools": {"track": {"parameters": {"order": "str"}, "results": [], "default": {"days": 3}, "description": "Looks."}},
}
RIGHT = {"category": "delivery", "priority": 2, "summary": "A cup", "needs_human": True}
SCRIPT = {  # ticket -> replies: one right, one by way of a tool, one corrected and wrong, one never right
    CASES[0]["ticket"]: [json.dumps(RIGHT)],
    CASES[1]["ticket"]: ['{"tool": "track", "arguments": {"order": "TT-1"}}', json.dumps({**RIGHT, "needs_human": False})],
    CASES[2]["ticket"]: ["Sure! \x1b[31m", json.dumps({**RIGHT, "summary": "\u202e Zwölf"})],
    CASES[3]["ticket"]: ["\ud800 \x00", ""],
}
LINE = "accuracy=0.5 correct=2/4 fallbacks=1 min_accuracy=0.5"


def asked(request):
    """Return the ticket and the number of replies given so far, from a request."""
    messages = request["body"]["messages"]
    return json.loads(messages[1]["content"].split("\n")[1]), sum(message["role"] == "assistant" for message in messages)


def plays(handler):
    """Play SCRIPT: the server of a model that these tests know by heart."""
    ticket, turn = asked(handler.seen)
    says(SCRIPT[ticket][turn])(handler)


def fails_for(name, act):
    """Play SCRIPT, and let the case of this id meet another act."""
    ticket = next(case["ticket"] for case in CASES if case["id"] == name)
    return lambda handler: act(handler) if asked(handler.seen)[0] == ticket else plays(handler)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class CommandTest(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.scenario, self.out = self.folder / "ticket_triage_shop", self.folder / "out"
        self.write(self.scenario, SCENARIO, CASES)
        self.patch(mock.patch.dict(os.environ, {"OPENAI_API_KEY": KEY}))
        self.patch(mock.patch.dict(sys.modules))
        self.patch(mock.patch.object(sys, "path", list(sys.path)))
        self.patch(mock.patch.object(sys, "dont_write_bytecode", True))

    def patch(self, patcher):
        patcher.start()
        self.addCleanup(patcher.stop)

    def write(self, folder, scenario, cases):
        folder.mkdir(exist_ok=True)
        cases = [{"note": "P1: what the old replies show", **case, "replies": ["old"]} for case in cases]
        (folder / "scenario.json").write_text(json.dumps(scenario), encoding="utf-8")
        (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")

    def target(self, code):
        """Return a target: the solution with code of its own at its end."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        source = (KIT / "solution" / "ticket_triage.py").read_text(encoding="utf-8")
        source = source.replace('if __name__ == "__main__":\n    sys.exit(main())', "")
        (folder / "ticket_triage.py").write_text(f"{source}\n{code}\n", encoding="utf-8")
        return folder

    def record(self, server, *options, target="solution", stderr=None):
        """Run the command; return (exit code, stdout, stderr)."""
        url = getattr(server, "url", server)
        argv = [str(target), str(self.scenario), "--base-url", url, "--model", "tiny", "--out", str(self.out), *options]
        self.slept = []
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(stderr or io.StringIO()) as err:
            code = record.main(argv, sleep=self.slept.append)
        self.assertNotIn(KEY, out.getvalue() + err.getvalue())
        self.assertNotIn("Traceback", err.getvalue())
        for path in filter(Path.is_file, self.out.rglob("*")):
            self.assertNotIn(KEY.encode(), path.read_bytes())
        return code, out.getvalue(), err.getvalue()

    def replay(self, target=KIT / "solution"):
        """Return (exit code, lines of stdout, stderr) of the lab's own command on the recording."""
        argv = [sys.executable, "-B", str(target / "ticket_triage.py"), str(self.out)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
        return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()

    def recorded(self):
        """Return scenario.json and cases.json of the recording."""
        return [json.loads((self.out / name).read_text(encoding="utf-8")) for name in ("scenario.json", "cases.json")]

    def files(self):
        return {path.name: path.read_bytes() for path in self.out.iterdir()} if self.out.exists() else None


class RecordTest(CommandTest):
    def test_a_recording_replays_to_the_line_that_was_printed(self):
        """Tools, corrections, fallbacks, control characters and a lone surrogate included; min_accuracy is what was measured."""
        code, out, err = self.record(self.serve(plays))
        self.assertEqual((code, out), (0, LINE + "\n"))
        self.assertEqual(err, "4 of 4 cases are recorded\n")
        code, lines, err = self.replay()
        self.assertEqual((code, lines[0], err), (0, LINE, ""))
        self.assertEqual([line.split(":")[0] for line in lines[1:]], ["paid-zw\u00f6lf", "odd"])
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])

    def test_scenario_json_says_how_it_was_recorded(self):
        settings = ["--temperature", "0", "--max-tokens", "200", "--seed", "3", "--json", "--licence", "MIT"]
        server = self.serve(plays)
        self.assertEqual(self.record(server, *settings)[0], 0)
        scenario, _ = self.recorded()
        made = scenario.pop("recording")
        self.assertEqual(scenario, {**SCENARIO, "min_accuracy": 0.5})
        self.assertRegex(made.pop("date"), r"^\d{4}-\d\d-\d\d$")
        sent = {"temperature": 0, "max_tokens": 200, "seed": 3, "response_format": {"type": "json_object"}}
        spent = {"requests": 7, "prompt_tokens": 49, "completion_tokens": 21}
        how = {"model": "tiny", "licence": "MIT", "base_url": server.url, "settings": sent, "keep_cut": False}
        self.assertEqual(made, {**how, **spent})
        for request in server.requests:
            self.assertEqual({name: request["body"][name] for name in sent}, sent)

    def test_a_target_is_a_name_of_the_kit_a_folder_or_a_file(self):
        folder = self.target("BESIDE = __import__('beside').NAME")
        (folder / "beside.py").write_text("NAME = 1", encoding="utf-8")
        for target in ("solution", folder, folder / "ticket_triage.py"):
            with self.subTest(target=str(target)):
                self.out = Path(tempfile.mkdtemp(dir=self.folder)) / "out"
                self.assertEqual(self.record(self.serve(plays), target=target)[:2], (0, LINE + "\n"))
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["beside.py", "ticket_triage.py"])

    def test_the_scenario_s_name_says_which_lab_it_is_of(self):
        (self.folder / "judge.py").write_text("", encoding="utf-8")
        rows = [
            ("solution", "ticket_triage_shop", "ticket_triage.py"),
            ("solution", "ticket_triage", "ticket_triage.py"),
            (self.target(""), "any_name", "ticket_triage.py"),
            (KIT / "starter" / "ticket_triage.py", "any_name", "ticket_triage.py"),
        ]
        for target, scenario, expected in rows:
            with self.subTest(target=str(target), scenario=scenario):
                self.assertEqual(record.lab_file(str(target), self.folder / scenario).name, expected)
        for target in (self.folder / "nothing", self.folder):
            target.mkdir(exist_ok=True)
        with self.assertRaisesRegex(record.UsageError, "no file of a lab"):
            record.lab_file(str(self.folder / "nothing"), "x")
        two = Path(tempfile.mkdtemp(dir=self.folder))
        starters = [path.name for path in sorted((KIT / "starter").glob("*.py"))][:2]
        for name in starters:
            (two / name).write_text("", encoding="utf-8")
        if len(starters) == 2:
            with self.assertRaisesRegex(record.UsageError, f"Name its file: {', '.join(starters)}"):
                record.lab_file(str(two), "any_name")

    def test_a_case_may_have_parts_with_replies_of_their_own(self):
        """As in a conversation of several turns: each part keeps its replies, and other files of the scenario come along."""
        lab = self.target(
            "def load_scenario(folder):\n"
            "    cases = read_json(os.path.join(folder, 'cases.json'))\n"
            "    for case in cases:\n"
            "        for number, turn in enumerate(case['turns']):\n"
            "            turn['id'] = str(number)\n"
            "    return {'name': 'n', 'min_accuracy': 0, 'suffix': __import__('pathlib').Path(folder, 'docs', 'a.md').read_text(), 'cases': cases}\n"
            "def evaluate(cases, client_for, *, suffix):\n"
            "    right = [client_for(turn)(build_messages(turn['ticket'], [])) == turn['ticket'] + suffix for case in cases for turn in case['turns']]\n"
            "    return {'accuracy': round(sum(right) / len(right), 3), 'correct': sum(right), 'total': len(right), 'failures': [], 'none': 0}\n"
            "def main(argv):\n"
            "    scenario = load_scenario(argv[0])\n"
            "    return print_report(evaluate(scenario['cases'], client_for, suffix=scenario['suffix']), 'none', 0)\n"
        )
        cases = [{"id": name, "data": [{"x": 1}], "turns": [{"ticket": f"{name}-{n}", "replies": []} for n in (1, 2)]} for name in "ab"]
        (self.scenario / "docs").mkdir()
        (self.scenario / "docs" / "a.md").write_text("!", encoding="utf-8")
        (self.scenario / "TASK.md").write_text("a contract", encoding="utf-8")
        (self.scenario / "scenario.json").write_text('{"name": "n", "min_accuracy": 0}', encoding="utf-8")
        (self.scenario / "cases.json").write_text(json.dumps(cases), encoding="utf-8")

        def echoes(handler):
            ticket, _ = asked(handler.seen)
            says(ticket + ("?" if ticket == "b-1" else "!"))(handler)

        fails = lambda handler: refuses(400)(handler) if asked(handler.seen)[0] == "b-2" else echoes(handler)
        server = self.serve(fails)
        self.assertEqual(self.record(server, target=lab)[0], 1)
        self.assertEqual(json.loads((self.out / "unfinished.json").read_text(encoding="utf-8")), {"b": [["b-1?"], []]})
        server.acts = (echoes,)
        self.assertEqual(self.record(server, "--resume", target=lab)[:2], (0, "accuracy=0.75 correct=3/4 none=0 min_accuracy=0\n"))
        said = [[turn["replies"] for turn in case["turns"]] for case in self.recorded()[1]]
        self.assertEqual(said, [[["a-1!"], ["a-2!"]], [["b-1?"], ["b-2!"]]])
        self.assertEqual(len(server.requests), 5)
        self.assertEqual(sorted(path.name for path in self.out.rglob("*")), ["a.md", "cases.json", "docs", "scenario.json"])
        (self.scenario / "docs" / "a.md").write_text("!!", encoding="utf-8")
        code, out, err = self.record(server, "--resume", target=lab)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        self.assertIn("a.md", err)

    def test_a_target_may_do_with_a_case_what_it_likes(self):
        target = self.target(
            "_real = evaluate\n"
            "def evaluate(cases, *a, **k):\n"
            "    try:\n"
            "        return _real(cases, *a, **k)\n"
            "    finally:\n"
            "        [case.clear() for case in cases]"
        )
        self.assertEqual(self.record(self.serve(plays), target=target)[:2], (0, LINE + "\n"))
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])

    def test_what_a_target_prints_is_not_mixed_with_the_line(self):
        target = self.target(
            "print('imported')\n"
            "_real = evaluate\n"
            "def evaluate(*a, **k):\n"
            "    print('looking')\n"
            "    return _real(*a, **k)"
        )
        code, out, err = self.record(self.serve(plays), target=target)
        self.assertEqual((code, out), (0, LINE + "\n"))
        self.assertIn("looking", err)

    def test_a_wrong_command_line_is_one_line_and_nothing_is_made(self):
        """Exit code 2; nothing is asked of the server, and what may be a key is not shown."""
        server = self.serve(plays)
        broken, unfinished, strange = self.target("def ("), self.target("raise SystemExit(3)"), self.folder / "strange"
        strange.mkdir()
        (strange / "ticket_triage.py").write_text("x = 1", encoding="utf-8")
        half = self.folder / "half"
        self.write(half, SCENARIO, [{**CASES[0], "expected": {"category": "lost", "needs_human": True}}])
        stub = self.target("def evaluate(*a, **k):\n    raise NotImplementedError('write evaluate')")
        for row, because in (
            ({"server": "ftp://127.0.0.1/v1"}, "no web address"),
            ({"server": f"http://{KEY}@127.0.0.1/v1"}, "a password in the address"),
            ({"options": ["--api-key", KEY]}, "a key on the command line"),
            ({"options": [f"--api-key={KEY}"]}, "a key on the command line"),
            ({"options": [KEY]}, "a key on the command line"),
            ({"options": ["--api-key-env", KEY]}, "the key, where its variable's name belongs"),
            ({"options": ["--api-key-env", "NO_SUCH_VARIABLE"]}, "no such variable"),
            ({"options": ["--jobs", "0"]}, "no job"),
            ({"options": ["--timeout", "nan"]}, "a timeout that never ends"),
            ({"options": ["--temperature", "warm\n"]}, "no number"),
            ({"options": ["--out", str(self.folder / "no" / "such" / "folder")]}, "no folder to make it in"),
            ({"options": ["--out", str(self.scenario)]}, "it exists"),
            ({"target": self.folder / "nowhere"}, "no target"),
            ({"target": self.folder}, "a folder without the lab's file"),
            ({"target": broken}, "a syntax error"),
            ({"target": unfinished}, "it exits when it is imported"),
            ({"target": strange}, "another program"),
            ({"target": stub}, "evaluate is not written yet"),
        ):
            with self.subTest(because):
                row = {"server": server, "options": [], **row}
                code, out, err = self.record(row["server"], *row["options"], target=row.get("target", "solution"))
                self.assertEqual((code, out, err.count("\n"), server.requests, self.files()), (2, "", 1, [], None), err)
                self.assertTrue(err.startswith("record.py: "), err)
        for scenario in (half, self.folder / "nowhere"):
            self.scenario = scenario
            code, out, err = self.record(server)
            self.assertEqual((code, out, err.count("\n"), server.requests), (2, "", 1, []), err)

    def test_a_key_with_a_line_end_is_trimmed_and_one_with_odd_characters_is_refused_unseen(self):
        server = self.serve(plays)
        with mock.patch.dict(os.environ, {"MY_KEY": f"{KEY}\n"}):
            self.assertEqual(self.record(server, "--api-key-env", "MY_KEY")[0], 0)
        self.assertEqual(server.requests[0]["headers"]["Authorization"], f"Bearer {KEY}")
        for key in (f"{KEY}\nX: 1", f"{KEY} {KEY}", f"{KEY}é"):
            with mock.patch.dict(os.environ, {"MY_KEY": key}):
                self.out = self.folder / "other"
                code, _, err = self.record(server, "--api-key-env", "MY_KEY")
                self.assertEqual((code, err.count("\n")), (2, 1))

    def test_a_case_whose_server_fails_is_named_and_left_out_and_resume_asks_for_it_alone(self):
        server = self.serve(fails_for("late", refuses(400, "context\x1b too long")))
        code, out, err = self.record(server)
        self.assertEqual((code, out), (1, "accuracy=0.333 correct=1/3 fallbacks=1 min_accuracy=0.333\n"))
        first, last = err.splitlines()
        self.assertTrue(first.startswith("case late: ") and "400: context\\x1b too long" in first, first)
        self.assertIn("3 of 4", last)
        self.assertEqual(self.replay()[1][0], out.strip())
        self.assertEqual([case["id"] for case in self.recorded()[1]], ["cup", "paid-zw\u00f6lf", "odd"])
        server.acts, before = (plays,), len(server.requests)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))
        self.assertEqual({asked(request)[0] for request in server.requests[before:]}, {"Where is TT-1?"})
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])
        self.assertEqual(self.recorded()[0]["recording"]["requests"], len(server.requests) - 1, "all but the refused one")
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"), "with nothing left to do")

    def test_a_server_that_refuses_everybody_is_asked_once_and_no_folder_stays(self):
        server = self.serve(refuses(401, '{"error": {"message": "Incorrect API key"}}'))
        code, out, err = self.record(server)
        self.assertEqual((code, out, len(server.requests), self.files()), (1, "", 1, None))
        self.assertEqual(len(err.splitlines()), 2)
        self.assertIn("case cup: ", err)
        self.assertIn("401: Incorrect API key", err)
        self.assertIn("0 of 4", err)

    def test_an_existing_folder_is_refused_and_left_as_it_is(self):
        server = self.serve(plays)
        self.out.mkdir()
        code, out, err = self.record(server)
        self.assertEqual((code, out, err.count("\n"), server.requests, self.files()), (2, "", 1, [], {}))
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"), "an empty one holds nothing to lose")
        before = self.files()
        self.assertEqual(self.record(server)[0], 2)
        self.assertEqual(self.files(), before)
        (self.folder / "file").write_text("x", encoding="utf-8")
        self.out = self.folder / "file"
        self.assertEqual((self.record(server, "--resume")[0], self.out.read_text(encoding="utf-8")), (2, "x"))

    def test_resume_refuses_what_was_recorded_in_another_way(self):
        server = self.serve(fails_for("late", refuses(400)))
        options = ["--temperature", "0.5", "--seed", "3"]
        self.assertEqual(self.record(server, *options)[0], 1)
        before, asked_before = self.files(), len(server.requests)
        for row, named in (
            (["--temperature", "0.5"], "settings"),
            (["--temperature", "0.7", "--seed", "3"], "settings"),
            ([*options, "--json"], "settings"),
            ([*options, "--model", "other"], "model"),
            ([*options, "--keep-cut"], "keep_cut"),
            ([*options, "--base-url", "http://127.0.0.1:1/v1"], "base_url"),
        ):
            with self.subTest(row=row):
                code, out, err = self.record(server, "--resume", *row)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1))
                self.assertIn(f" {named}: ", err)
        for scenario, cases, named in (
            ({**SCENARIO, "categories": [*CATEGORIES, "other"]}, CASES, "categories"),
            ({**SCENARIO, "tools": {}}, CASES, "tools"),
            (SCENARIO, [{**CASES[0], "ticket": "another"}, *CASES[1:]], "case cup"),
            (SCENARIO, CASES[1:], "case cup"),
        ):
            with self.subTest(named):
                self.write(self.scenario, scenario, cases)
                code, out, err = self.record(server, "--resume", *options)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1))
                self.assertIn(named, err)
        self.write(self.scenario, SCENARIO, CASES)
        self.assertEqual((self.files(), len(server.requests)), (before, asked_before))
        for name, value in (("recording", None), ("recording", [1]), ("min_accuracy", "high")):
            scenario = json.loads(before["scenario.json"])
            (self.out / "scenario.json").write_text(json.dumps({**scenario, name: value}), encoding="utf-8")
            self.assertEqual(self.record(server, "--resume", *options)[0], 2)
        (self.out / "scenario.json").write_bytes(before["scenario.json"])
        server.acts = (plays,)
        self.assertEqual(self.record(server, "--resume", "--timeout", "9", "--jobs", "2", *options)[0], 0)

    def interruptible(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts without it
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def test_ctrl_c_waits_for_what_is_paid_for_and_resume_goes_on(self):
        """The request under way comes in, no other is sent; its case lacks a second reply, and that alone is asked for."""
        self.interruptible()

        def interrupts(handler):
            _thread.interrupt_main()
            handler.server.closing.wait(0.5)
            plays(handler)

        server = self.serve(fails_for("late", interrupts))
        code, out, err = self.record(server, "--timeout", "60")
        self.assertEqual((code, out), (1, "accuracy=1.0 correct=1/1 fallbacks=0 min_accuracy=1.0\n"))
        self.assertEqual([case["id"] for case in self.recorded()[1]], ["cup"])
        self.assertEqual(len(err.splitlines()), 2, err)
        self.assertIn("1 of 4", err)
        self.assertEqual(self.replay()[1], [out.strip()])
        self.assertEqual(json.loads((self.out / "unfinished.json").read_text(encoding="utf-8")), {"late": [SCRIPT[CASES[1]["ticket"]][:1]]})
        asked_before, server.acts = len(server.requests), (plays,)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))
        self.assertEqual(len(server.requests) - asked_before, 7 - asked_before, "nothing is paid for twice")
        self.assertEqual(self.recorded()[0]["recording"]["requests"], 7)
        self.assertEqual(sorted(self.files()), ["cases.json", "scenario.json"])

    def test_a_second_ctrl_c_does_not_wait(self):
        self.interruptible()

        def interrupts(handler):
            for _ in range(2):
                _thread.interrupt_main()
                handler.server.closing.wait(0.5)
            keeps_silent(handler)

        server = self.serve(fails_for("paid-zw\u00f6lf", interrupts))
        began = time.monotonic()
        code, out, err = self.record(server, "--timeout", "60")
        self.assertLess(time.monotonic() - began, 8)
        self.assertEqual((code, out), (1, "accuracy=1.0 correct=2/2 fallbacks=0 min_accuracy=1.0\n"))
        self.assertEqual([case["id"] for case in self.recorded()[1]], ["cup", "late"])
        server.acts = (plays,)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))

    def test_what_a_failed_case_has_paid_for_is_kept_and_not_asked_for_again(self):
        fails_later = lambda handler: plays(handler) if asked(handler.seen)[1] == 0 else refuses(400, "no")(handler)
        server = self.serve(fails_for("late", fails_later))
        self.assertEqual(self.record(server)[0], 1)
        server.acts, before = (plays,), len(server.requests)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))
        self.assertEqual(len(server.requests) - before, 1)
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])

    def test_unfinished_json_is_checked_like_any_other_file(self):
        server = self.serve(fails_for("late", refuses(400)))
        self.assertEqual(self.record(server)[0], 1)
        for text in ("[", "[1]", '{"late": "x"}', '{"late": [["x"], ["y"]]}', '{"late": [[1]]}', '{"nobody": [["x"]]}'):
            with self.subTest(text):
                (self.out / "unfinished.json").write_text(text, encoding="utf-8")
                code, out, err = self.record(server, "--resume")
                self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
                self.assertIn("unfinished.json", err)

    def test_jobs_run_side_by_side_and_the_file_keeps_the_scenario_s_order(self):
        """Four requests meet at a barrier, and the first case ends last."""
        barrier, others = threading.Barrier(4), threading.Semaphore(0)

        def meets(handler):
            ticket, turn = asked(handler.seen)
            if turn == 0:
                barrier.wait(5)
            if ticket == CASES[0]["ticket"]:
                for _ in range(6):
                    others.acquire(timeout=5)
            plays(handler)
            others.release()

        self.assertEqual(self.record(self.serve(meets), "--jobs", "4")[:2], (0, LINE + "\n"))
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])

    def test_a_failure_that_the_target_swallows_is_still_no_reply(self):
        swallowing = self.target(
            "_triage = triage\n"
            "def triage(ticket_text, client, **options):\n"
            "    for _ in range(3):\n"
            "        try:\n"
            "            return _triage(ticket_text, client, **options)\n"
            "        except BaseException:\n"
            "            pass\n"
            "    return {'category': 'delivery', 'needs_human': False, 'fallback': False}"
        )
        server = self.serve(fails_for("late", refuses(400, "no")))
        code, out, err = self.record(server, target=swallowing)
        self.assertEqual((code, [case["id"] for case in self.recorded()[1]]), (1, ["cup", "paid-zw\u00f6lf", "odd"]))
        self.assertIn("case late: ", err)
        self.assertEqual(sum(asked(request)[0] == "Where is TT-1?" for request in server.requests), 1, "it is not asked again")

    def test_a_target_that_fails_costs_the_case_and_is_shown_with_its_line(self):
        """The third asks until it is stopped; the last takes another number of replies when they are replayed."""
        ask = "client(build_messages(ticket_text, []))"
        rows = {
            "raises": ("raise KeyError('priority\\x1b')", "ticket_triage.py line "),
            "exits": ("raise SystemExit('bye')", "SystemExit: bye"),
            "asks for ever": (f"while True: {ask}", "more than 20 replies"),
            "asks once more": (f"{ask}; SEEN.append(1); SEEN[1:] or {ask}; SEEN[1:] = []", "replayed"),
            "decides otherwise": (f"{ask}; SEEN.append(1)", "replayed"),
        }
        for name, (line, shown) in rows.items():
            with self.subTest(name):
                self.out = self.folder / name.replace(" ", "-")
                target = self.target(
                    "SEEN = []\n_triage = triage\n"
                    "def triage(ticket_text, client, **options):\n"
                    "    if 'TT-1' in ticket_text:\n"
                    f"        {line}\n"
                    "        return {'fallback': False, 'category': len(SEEN), 'needs_human': 0}\n"
                    "    return _triage(ticket_text, client, **options)"
                )
                server = self.serve(fails_for("late", says("again")))
                code, out, err = self.record(server, target=target)
                self.assertEqual((code, [case["id"] for case in self.recorded()[1]]), (1, ["cup", "paid-zw\u00f6lf", "odd"]), err)
                self.assertEqual(len(err.splitlines()), 2, err)
                self.assertTrue(err.startswith("case late: "), err)
                self.assertIn(shown, err)
                self.assertLessEqual(len(server.requests), 1 + 20 + 2 + 2)

    def test_an_evaluate_that_reports_no_accuracy_records_nothing(self):
        for code in ("return None", "return {'accuracy': 87.5}", "return {'accuracy': 'high'}"):
            with self.subTest(code):
                result = self.record(self.serve(plays), target=self.target(f"def evaluate(*a, **k):\n    {code}"))
                self.assertEqual((result[:2], self.files()), ((1, ""), None))

    def test_progress_is_shown_to_a_terminal_alone(self):
        code, out, err = self.record(self.serve(plays), stderr=Terminal())
        self.assertIn("4/4 cases, 70 tokens, 0 s", err)
        self.assertEqual(code, 0)
        self.out = self.folder / "quiet"
        self.assertEqual(self.record(self.serve(plays))[2], "4 of 4 cases are recorded\n")

    def test_files_are_written_whole_or_not_at_all(self):
        """Where the folder takes no more, what is paid for goes to another one, and no further case begins."""
        server = self.serve(fails_for("late", refuses(400)))
        self.assertEqual(self.record(server)[0], 1)
        before = self.files()
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        write = Path.write_bytes

        def full(path, data):
            if self.out in path.parents:
                raise OSError(28, "No space left on device")
            return write(path, data)

        server.acts = (plays,)
        with mock.patch.object(Path, "write_bytes", full), mock.patch.object(tempfile, "tempdir", str(elsewhere)):
            code, out, err = self.record(server, "--resume")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("No space left", err)
        self.assertEqual({name: self.files()[name] for name in before}, before)
        self.out, = elsewhere.iterdir()
        self.assertIn(str(self.out), err)
        self.assertEqual(len(self.recorded()[1]), 4)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"), "the other folder is a recording too")
        self.assertEqual(sorted(self.files()), ["cases.json", "scenario.json"])

    def test_a_disk_that_is_full_everywhere_is_said_and_leaves_what_there_was(self):
        server = self.serve(fails_for("late", refuses(400)))
        self.assertEqual(self.record(server)[0], 1)
        before, elsewhere = self.files(), self.folder / "elsewhere"
        elsewhere.mkdir()
        server.acts = (plays,)
        for owner, name in ((Path, "write_bytes"), (record.os, "replace")):
            failing = mock.patch.object(owner, name, side_effect=OSError(28, "No space left on device"))
            with self.subTest(name), failing, mock.patch.object(tempfile, "tempdir", str(elsewhere)):
                code, out, err = self.record(server, "--resume")
                self.assertEqual((code, out), (2, ""))
                self.assertIn("No space left", err.splitlines()[-1])
                self.assertEqual({name: self.files()[name] for name in before}, before)
                self.assertEqual(list(elsewhere.iterdir()), [])

    def test_a_disk_that_is_full_for_a_moment_costs_nothing(self):
        failures = [OSError(28, "No space left on device")]
        write = Path.write_bytes

        def full_once(path, data):
            if failures:
                raise failures.pop()
            return write(path, data)

        server = self.serve(plays)
        with mock.patch.object(Path, "write_bytes", full_once):
            code, out, err = self.record(server, "--jobs", "1")
        self.assertIn("no further case begins", err)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))
        self.assertEqual(len(server.requests), 7, "nothing is paid for twice")

    def test_each_shipped_recording_replays_to_what_it_says(self):
        """scenario/LAB_MODEL: the cases that ship, no path of a machine, the accuracy that was measured, twice the same bytes."""
        recordings = sorted(path.parent for path in KIT.glob("scenario/*/scenario.json") if '"recording"' in path.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(recordings), 2)
        for self.out in recordings:
            with self.subTest(recording=self.out.name):
                lab = record.lab_file("solution", self.out)
                source = KIT / "scenario" / lab.stem
                scenario, cases = self.recorded()
                first, again = [subprocess.run([sys.executable, "-B", lab, self.out], capture_output=True, check=False) for _ in range(2)]
                self.assertEqual((first.returncode, first.stderr, first.stdout), (0, b"", again.stdout))
                self.assertTrue(first.stdout.startswith(f"accuracy={scenario['min_accuracy']} correct=".encode()), first.stdout[:80])
                shipped = json.loads((source / "cases.json").read_text(encoding="utf-8"))
                self.assertEqual(list(map(self.without_replies, cases)), list(map(self.without_replies, shipped)))
                for path in (path for path in source.rglob("*") if path.is_file() and path.suffix == ".md" and path.name[:4] != "TASK"):
                    self.assertEqual((self.out / path.relative_to(source)).read_bytes(), path.read_bytes(), path.name)
                self.assertLessEqual({"model", "licence", "date", "settings"}, set(scenario["recording"]))
                self.assertNotRegex(json.dumps(scenario), "/home/|/root/|/tmp/|/work/|[A-Z]:\\\\")

    def without_replies(self, case):
        """Return what a case asks, without the replies and the note that tells of them."""
        case = record.filled(case, [[] for _ in record.parts_of(case)])
        for part in (case, *record.parts_of(case)):
            part.pop("note", None)
        return case


if __name__ == "__main__":
    unittest.main()
