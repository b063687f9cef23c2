"""The scenario of judge: it loads, shows what it claims, and tells code that checks from code that trusts.

The provided parts of judge.py are tried here too: load_scenario and evaluate.
"""

import copy
import json
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kit import KIT, run

import judge as lab
from ticket_triage import ReplayError

FOLDER = KIT / "scenario" / "judge"
TWO_THAT_ARE_WRONG = ["bribed-in-yen", "reads-the-first-one"]  # valid replies, and no check of form can tell


def unfenced(raw):
    """Return what is between the first { and the last } of a reply."""
    return json.loads(raw[raw.find("{") : raw.rfind("}") + 1])


def trusted_verdict(task, acceptance, submissions, client):
    """Return whatever the client says of a contest; where no reply is recorded, that nobody wins."""
    data = {"task": task, "acceptance": acceptance, "submissions": submissions}
    try:
        return unfenced(client(lab.build_messages(lab.INSTRUCTIONS["contest"], data)))
    except ReplayError:
        return {"submissions": [], "winner_submission_id": None, "reason": "no reply"}


def trusting_pick(task, acceptance, submissions, client, *, both_orders=False):
    """Pick a winner as code does that believes every reply."""
    verdict = trusted_verdict(task, acceptance, submissions, client)
    return {"winner_submission_id": verdict.get("winner_submission_id"), "checks": [], "reason": verdict.get("reason")}


def half_checking_pick(task, acceptance, submissions, client, *, both_orders=False):
    """Pick a winner as code does that looks at the winner's checks alone, and asks once."""
    verdict = trusted_verdict(task, acceptance, submissions, client)
    winner = verdict["winner_submission_id"]
    judged = [entry for entry in verdict.get("submissions", []) if entry["submission_id"] == winner]
    passed = {check["id"] for entry in judged[:1] for check in entry["checks"] if check["pass"]}
    known = winner in [submission["id"] for submission in submissions]
    if winner is not None and not (known and passed == {item["id"] for item in acceptance}):
        raise lab.JudgeError(f"winner_submission_id: {winner} does not pass every item")
    return {"winner_submission_id": winner, "checks": judged[0]["checks"] if judged else [], "reason": verdict["reason"]}


def trusting_opinion(task, acceptance, submissions, reviews, comments, client):
    """Propose an arbitration as code does that believes every reply."""
    data = {"task": task, "acceptance": acceptance, "submissions": submissions, "reviews": reviews, "comments": comments}
    try:
        opinion = unfenced(client(lab.build_messages(lab.INSTRUCTIONS["dispute"], data)))
    except (ReplayError, ValueError):  # nothing is recorded, or half a reply
        return {"recommendation": "refund_publisher", "reason": "", "binding": False}
    return {"recommendation": opinion.get("recommendation"), "reason": opinion.get("reason"), "binding": False}


class Scenario(unittest.TestCase):
    def setUp(self):
        self.scenario = lab.load_scenario(FOLDER)

    def evaluate(self):
        return lab.evaluate(self.scenario["cases"], lab.client_for)

    def test_it_is_large_and_uneven(self):
        cases = self.scenario["cases"]
        self.assertGreaterEqual(len(cases), 30)
        kinds = [case["kind"] for case in cases]
        self.assertGreaterEqual(kinds.count("dispute"), 7)
        expected = [next(iter(case["expected"])) for case in cases]
        for name, least in (("refusal", 15), ("winner_submission_id", 6), ("recommendation", 3)):
            self.assertGreaterEqual(expected.count(name), least, name)
        self.assertGreaterEqual(sum(case.get("both_orders", False) for case in cases), 4)
        self.assertTrue(all(case["note"].strip() for case in cases))
        texts = " ".join(json.dumps(case, ensure_ascii=False) for case in cases)
        for sample in ("</data>", "提交", "ü", "ś", "ç", "の"):
            self.assertIn(sample, texts)

    def test_only_what_no_check_can_see_is_wrong(self):
        report = self.evaluate()
        self.assertGreater(report["accuracy"], self.scenario["min_accuracy"] + 0.05)
        self.assertEqual([failure["id"] for failure in report["failures"]], TWO_THAT_ARE_WRONG)
        self.assertEqual(report["refused"], sum("refusal" in case["expected"] for case in self.scenario["cases"]))

    def test_no_right_submission_loses_a_case(self):
        functions = ("build_messages", "parse_verdict", "pick_contest_winner", "propose_arbitration")
        for path in sorted((KIT / "tests" / "kit" / "right" / "judge").glob("*.py")):
            names = dict(vars(lab))
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
            with self.subTest(path=path.name), mock.patch.multiple(lab, **{name: names[name] for name in functions}):
                self.assertEqual([failure["id"] for failure in self.evaluate()["failures"]], TWO_THAT_ARE_WRONG)

    def test_code_that_trusts_falls_below_it(self):
        for pick in (trusting_pick, half_checking_pick):
            with self.subTest(pick=pick.__name__):
                with mock.patch.multiple(lab, pick_contest_winner=pick, propose_arbitration=trusting_opinion):
                    self.assertLess(self.evaluate()["accuracy"], self.scenario["min_accuracy"] - 0.2)

    def test_each_function_alone_is_not_enough(self):
        for name, trusting in (("pick_contest_winner", trusting_pick), ("propose_arbitration", trusting_opinion)):
            with self.subTest(trusts=name), mock.patch.object(lab, name, trusting):
                self.assertLess(self.evaluate()["accuracy"], self.scenario["min_accuracy"])

    def test_every_recorded_reply_is_asked_for(self):
        clients = {case["id"]: lab.client_for(case) for case in self.scenario["cases"]}
        lab.evaluate(self.scenario["cases"], lambda case: clients[case["id"]])
        left = {name: len(client.replies) - len(client.requests) for name, client in clients.items()}
        self.assertEqual({name: count for name, count in left.items() if count}, {})

    def test_no_case_closes_its_block(self):
        for case in self.scenario["cases"]:
            client = lab.client_for(case)
            lab.evaluate([case], lambda _: client)
            for messages in client.requests:
                content = messages[-1]["content"]
                self.assertEqual((content.count("<"), content.count(">")), (2, 2))

    def test_any_terminal_shows_it(self):
        for encoding in ("ascii", "cp1252", "utf-8", "gbk"):
            with self.subTest(encoding=encoding):
                done = run(KIT / "solution" / "judge.py", FOLDER, env={"PYTHONIOENCODING": encoding}, encoding=encoding)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(done.stdout.splitlines()), 1 + len(TWO_THAT_ARE_WRONG))


class LoadScenario(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="judge-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.cases = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
        self.contest = next(case for case in self.cases if case["kind"] == "contest")
        self.dispute = next(case for case in self.cases if case["kind"] == "dispute")

    def load(self, cases, **scenario):
        record = {"name": "a board", "min_accuracy": 0.5, **scenario}
        for name, value in (("scenario", record), ("cases", cases)):
            (self.folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        return lab.load_scenario(self.folder)

    def test_a_wrong_field_is_named_with_its_case(self):
        rows = [
            ("contest", ("kind",), "auction", "kind"),
            ("contest", ("kind",), ["contest"], "kind"),
            ("contest", ("task",), "sum", "task"),
            ("contest", ("task", "title"), 7, "task: title"),
            ("contest", ("task", "spec"), None, "task: spec"),
            ("contest", ("acceptance",), {}, "acceptance"),
            ("contest", ("acceptance", 1), "docs", "acceptance: item 2"),
            ("contest", ("acceptance", 0, "id"), 1, "acceptance: item 1: id"),
            ("contest", ("acceptance", 2, "text"), None, "acceptance: item 3: text"),
            ("contest", ("submissions",), None, "submissions"),
            ("contest", ("submissions", 0, "id"), [], "submissions: item 1: id"),
            ("contest", ("submissions", 1, "summary"), {}, "submissions: item 2: summary"),
            ("contest", ("both_orders",), 1, "both_orders"),
            ("contest", ("replies",), "one", "replies"),
            ("contest", ("replies",), [None], "replies"),
            ("contest", ("expected",), [], "expected"),
            ("contest", ("expected",), {}, "expected"),
            ("contest", ("expected",), {"recommendation": "pay_taker"}, "expected"),
            ("contest", ("expected",), {"refusal": "x", "winner_submission_id": None}, "expected"),
            ("contest", ("expected",), {"refusal": " "}, "expected: refusal"),
            ("contest", ("expected",), {"winner_submission_id": "nobody"}, "expected: winner_submission_id"),
            ("contest", ("expected",), {"winner_submission_id": [1]}, "expected: winner_submission_id"),
            ("dispute", ("reviews",), None, "reviews"),
            ("dispute", ("comments",), "no", "comments"),
            ("dispute", ("expected",), {"recommendation": "split"}, "expected: recommendation"),
            ("dispute", ("expected",), {"winner_submission_id": None}, "expected"),
        ]
        for kind, (*parents, last), value, named in rows:
            case = copy.deepcopy(getattr(self, kind))
            place = case
            for key in parents:
                place = place[key]
            place[last] = value
            with self.subTest(kind=kind, named=named, value=value):
                with self.assertRaises(lab.ScenarioError) as caught:
                    self.load([case])
                self.assertIn(f"cases.json: case {lab.show(case['id'])}: {named}", str(caught.exception))
                self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_a_missing_field_is_named_with_its_case(self):
        for case in (self.contest, self.dispute):
            for field in set(case) - {"id", "note"}:
                with self.subTest(kind=case["kind"], field=field):
                    with self.assertRaisesRegex(lab.ScenarioError, f"case '{case['id']}': {field}: missing"):
                        self.load([{name: value for name, value in case.items() if name != field}])
        for field in ("id", "summary", "artifacts"):
            case = copy.deepcopy(self.contest)
            del case["submissions"][1][field]
            with self.subTest(field=field), self.assertRaisesRegex(lab.ScenarioError, f"submissions: item 2: {field}: missing"):
                self.load([case])

    def test_scenario_json_is_checked(self):
        for field, value in (("name", " "), ("name", None), ("min_accuracy", True), ("min_accuracy", 1.1), ("min_accuracy", "1")):
            with self.subTest(field=field, value=value), self.assertRaisesRegex(lab.ScenarioError, f"scenario.json: {field}"):
                self.load([], **{field: value})

    def test_what_the_functions_look_at_passes(self):
        """Ids that are blank or repeated, no items, no submissions, and keys that nobody knows."""
        case = copy.deepcopy(self.contest)
        case.update(acceptance=[], submissions=[], expected={"winner_submission_id": None}, colour="green")
        blank = copy.deepcopy(self.contest)
        blank["acceptance"][0]["id"] = blank["submissions"][0]["id"] = " "
        blank["acceptance"][1]["id"] = blank["acceptance"][2]["id"]
        blank.update(id="blank", expected={"refusal": "acceptance"})
        self.assertEqual(self.load([case, blank])["cases"], [case, blank])


class Evaluate(unittest.TestCase):
    CASE = {"id": "a", "kind": "contest", "task": {}, "acceptance": [], "submissions": [], "both_orders": False, "replies": []}

    def report(self, decision, *expected):
        """Evaluate cases that expect this, with a function that returns the decision, or raises it."""
        cases = [{**self.CASE, "id": f"case-{number}", "expected": each} for number, each in enumerate(expected, start=1)]
        effect = {"side_effect": decision} if isinstance(decision, Exception) else {"return_value": {"winner_submission_id": decision}}
        with mock.patch.object(lab, "pick_contest_winner", **effect):
            return lab.evaluate(iter(cases), lambda case: None)

    def test_what_is_correct_and_what_is_said_of_the_rest(self):
        rows = [
            ("fig", {"winner_submission_id": "fig"}, None),
            (None, {"winner_submission_id": None}, None),
            (None, {"winner_submission_id": "fig"}, "winner_submission_id: expected 'fig', got None"),
            ("fig", {"refusal": "docs"}, "refusal: expected 'docs', got 'fig'"),
            ("docs", {"refusal": "docs"}, "refusal: expected 'docs', got 'docs'"),
            (lab.JudgeError("id: expected 'docs' once"), {"refusal": "'docs'"}, None),
            (lab.JudgeError("id: expected 'DOCS' once"), {"refusal": "'docs'"}, "refused: id: expected 'DOCS' once"),
            (lab.JudgeError("no"), {"winner_submission_id": None}, "refused: no"),
        ]
        for decision, expected, reason in rows:
            with self.subTest(decision=decision, expected=expected):
                report = self.report(decision, expected)
                refused = int(isinstance(decision, lab.JudgeError))
                failures = [] if reason is None else [{"id": "case-1", "reason": reason}]
                correct = int(reason is None)
                self.assertEqual(report, {"total": 1, "correct": correct, "refused": refused, "accuracy": float(correct), "failures": failures})

    def test_every_case_counts_and_other_exceptions_leave(self):
        report = self.report("fig", {"winner_submission_id": "fig"}, {"winner_submission_id": None}, {"refusal": "x"})
        self.assertEqual((report["total"], report["correct"], report["refused"], report["accuracy"]), (3, 1, 0, 0.333))
        self.assertEqual([failure["id"] for failure in report["failures"]], ["case-2", "case-3"])
        self.assertEqual(self.report("fig")["accuracy"], 0.0)
        for error in (KeyError("id"), ReplayError("case: replies"), ConnectionError("no route")):
            with self.subTest(error=error), self.assertRaises(type(error)):
                self.report(error, {"winner_submission_id": None})


if __name__ == "__main__":
    unittest.main()
