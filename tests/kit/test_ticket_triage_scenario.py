"""The scenario of ticket_triage: it loads, shows what it claims, and tells code that checks from code that trusts."""

import json
import unittest
from unittest import mock

from kit import KIT, run

import ticket_triage as lab

FOLDER = KIT / "scenario" / "ticket_triage"


def trusting_triage(ticket, client, *, categories, tools=None):
    """Triage that believes every reply: it takes off a fence, decodes, runs what it is told to, and asks twice."""
    messages = lab.build_messages(ticket, categories, tools)
    for _ in range(2):
        for _ in range(4):
            raw = client(messages).strip()
            if raw.startswith("```"):
                raw = raw.partition("\n")[2].rpartition("```")[0]
            try:
                record = json.loads(raw)
            except (ValueError, RecursionError):
                break
            if not isinstance(record, dict):
                break
            if "tool" not in record:
                answer = {field: record.get(field) for field in lab.FIELDS}
                return {**answer, "attempts": 1, "tool_calls": 0, "fallback": False}
            if record["tool"] in tools:
                tools[record["tool"]]["function"](**record["arguments"])
        else:
            break
    return {"category": None, "needs_human": True, "attempts": 2, "tool_calls": 0, "fallback": True}


class Scenario(unittest.TestCase):
    def setUp(self):
        self.scenario = lab.load_scenario(FOLDER)

    def evaluate(self):
        client_for = lambda case: lab.ReplayClient(case["replies"], case["id"])
        options = {"categories": self.scenario["categories"], "tools": self.scenario["tools"]}
        return lab.evaluate(self.scenario["cases"], client_for, **options)

    def test_it_is_large_and_uneven(self):
        cases = self.scenario["cases"]
        self.assertGreaterEqual(len(cases), 40)
        counts = [sum(case["expected"]["category"] == name for case in cases) for name in self.scenario["categories"]]
        self.assertGreaterEqual(len(counts), 6)
        self.assertGreaterEqual(min(counts), 3)
        self.assertEqual({case["expected"]["needs_human"] for case in cases}, {True, False})
        self.assertGreater(max(len(case["ticket"]) for case in cases), 1000)
        self.assertTrue(all(case["note"].strip() for case in cases))

    def test_the_solution_reaches_min_accuracy_with_room(self):
        report = self.evaluate()
        self.assertGreater(report["accuracy"], self.scenario["min_accuracy"] + 0.03)
        self.assertGreater(report["fallbacks"], 0)
        self.assertGreater(report["total"] - report["correct"] - report["fallbacks"], 0, "valid and wrong answers")

    def test_code_that_trusts_every_reply_falls_below_it(self):
        with mock.patch.object(lab, "triage", trusting_triage):
            report = self.evaluate()
        self.assertLess(report["accuracy"], self.scenario["min_accuracy"] - 0.1)

    def test_every_recorded_reply_is_asked_for(self):
        clients = {}

        def client_for(case):
            return clients.setdefault(case["id"], lab.ReplayClient(case["replies"]))

        lab.evaluate(self.scenario["cases"], client_for, categories=self.scenario["categories"], tools=self.scenario["tools"])
        left = {name: len(client.replies) - len(client.requests) for name, client in clients.items()}
        self.assertEqual({name: count for name, count in left.items() if count}, {})

    def test_no_ticket_closes_its_block(self):
        for case in self.scenario["cases"]:
            content = lab.build_messages(case["ticket"], self.scenario["categories"])[-1]["content"]
            self.assertEqual((content.count("<"), content.count(">")), (2, 2))
            self.assertEqual(json.loads(content[len("<ticket>\n") : -len("\n</ticket>")]), case["ticket"])

    def test_any_terminal_shows_it(self):
        for encoding in ("ascii", "cp1252", "utf-8", "gbk"):
            with self.subTest(encoding=encoding):
                done = run(KIT / "solution" / "ticket_triage.py", FOLDER, env={"PYTHONIOENCODING": encoding}, encoding=encoding)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(done.stdout.splitlines()), 1 + 7)


if __name__ == "__main__":
    unittest.main()
