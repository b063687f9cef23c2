"""The scenario of doc_assist: it loads, shows every status, and tells code that checks from code that trusts. Its search is measured."""

import collections
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import retrieval
from kit import KIT, run

import doc_assist as lab

FOLDER = KIT / "scenario" / "doc_assist"
RECALL, REFUSED = 41, 25  # of the answerable questions, and of those without an answer: neither may fall


def trusting_turn(state, message, client, registry):
    """A turn that believes every reply: it runs what it is told to, and cites what it is given."""
    end = lambda status, reply, tool=None, cited=(): (state, {"status": status, "reply": reply, "tool": tool, "cited": list(cited)})
    try:
        raw = client(lab.selector_messages(state, message, registry))
        decision = json.loads(raw[raw.index("{") : raw.rindex("}") + 1])
    except ValueError:
        return end("invalid_reply", "?")
    if decision.get("action") != "tool":
        return end("refused" if decision.get("action") == "refuse" else "clarification_needed", decision.get("reply"))
    name, arguments = decision["tool"], decision["arguments"]
    try:
        value = registry[name]["function"](state, **arguments)
    except Exception:
        return end("tool_error", "?", name)
    if name != "search_docs":
        return end("shown", value, name)
    if not value:
        return end("no_source", "?", name)
    raw = client(lab.writer_messages(message, value))
    try:
        answer = json.loads(raw)
    except ValueError:
        return end("answered", raw, name)
    return end("answered", answer["answer"], name, answer["cited"])


class Scenario(unittest.TestCase):
    def setUp(self):
        self.scenario = lab.load_scenario(FOLDER)

    def evaluate(self, client_for=lab.client_for):
        return lab.evaluate(self.scenario["cases"], client_for, corpus=self.scenario["corpus"])

    def test_the_manual_and_the_conversations_are_large_and_show_every_status(self):
        self.assertGreaterEqual(len(self.scenario["corpus"].titles), 8)
        self.assertGreaterEqual(len(self.scenario["cases"]), 12)
        turns = [turn for case in self.scenario["cases"] for turn in case["turns"]]
        self.assertEqual({turn["expected"]["status"] for turn in turns}, set(lab.STATUSES))
        self.assertEqual({turn["expected"]["tool"] for turn in turns}, {None, *lab.TOOL_REGISTRY})
        self.assertGreater(max(len(case["turns"]) for case in self.scenario["cases"]), lab.HISTORY_PAIRS)
        self.assertTrue(all(case["note"].strip() for case in self.scenario["cases"]))

    def test_the_solution_reaches_min_accuracy_with_room_and_calls_nothing_forbidden(self):
        report = self.evaluate()
        self.assertGreater(report["accuracy"], self.scenario["min_accuracy"] + 0.03)
        self.assertEqual(report["forbidden"], 0)
        self.assertGreater(report["total"] - report["correct"], 0, "valid and wrong replies")
        self.assertNotIn("left over", json.dumps(report["failures"]))

    def test_code_that_trusts_every_reply_falls_below_it(self):
        def client_for(turn):
            replies = iter(turn["replies"])
            return lambda messages: next(replies, "I have said all.")

        with mock.patch.object(lab, "run_turn", trusting_turn):
            report = self.evaluate(client_for)
        self.assertLess(report["accuracy"], self.scenario["min_accuracy"] - 0.2)

    def test_no_document_closes_the_block_of_data(self):
        for passage in self.scenario["corpus"].passages:
            content = lab.writer_messages("</data>", [passage])[-1]["content"]
            self.assertEqual((content.count("<"), content.count(">")), (2, 2))
            data = json.loads(content[len("<data>\n") : -len("\n</data>")])
            self.assertEqual(data, {"message": "</data>", "passages": [passage]})

    def test_a_turn_error_that_leaves_is_one_line_with_the_turn(self):
        def twice(state, message, client, registry):
            state, _, _ = lab.attempt_tool(lab.begin_turn(state, message), "no_tool", {}, registry)
            return lab.attempt_tool(state, "no_tool", {}, registry)

        with mock.patch.object(lab, "run_turn", twice), self.assertRaisesRegex(lab.ScenarioError, "'restart-how-and-do-it turn 1'"):
            self.evaluate()

    def test_a_changed_state_and_a_second_call_are_seen(self):
        def careless(state, message, client, registry):
            state["history"].append("x")
            registry["search_docs"]["function"](state, query="pump")
            registry["search_docs"]["function"](state, query="pump")
            return lab.finalize_turn(state, message, result), result

        result = {"status": "answered", "reply": "", "tool": "search_docs", "cited": []}
        turn = {"id": "a", "message": "pump", "replies": ["?"], "expected": {"status": "answered", "tool": "search_docs", "cited": []}}
        with mock.patch.object(lab, "run_turn", careless):
            report = lab.evaluate([{"turns": [turn]}], lab.client_for, corpus=self.scenario["corpus"])
        self.assertEqual((report["correct"], report["forbidden"]), (0, 1))
        self.assertRegex(report["failures"][0]["reason"], "1 left over; forbidden: search_docs was called; state: ")

    def test_any_terminal_shows_it(self):
        for encoding in ("ascii", "cp1252", "utf-8", "gbk"):
            with self.subTest(encoding=encoding):
                done = run(KIT / "solution" / "doc_assist.py", FOLDER, env={"PYTHONIOENCODING": encoding}, encoding=encoding)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(done.stdout.splitlines()), 1 + 2)


class Retrieval(unittest.TestCase):
    def test_the_questions_are_many_and_in_several_words(self):
        asked = retrieval.questions()
        counts = collections.Counter(question["words"] for question in asked)
        self.assertGreaterEqual(counts["the manual's"] + counts["others"], 40)
        self.assertGreaterEqual(counts["others"] * 3, counts["the manual's"] + counts["others"])
        self.assertGreaterEqual(counts["none"], 10)
        ids = {passage["id"] for passage in lab.load_corpus(retrieval.MANUAL).passages}
        self.assertEqual({passage for question in asked for passage in question["passages"]} - ids, set())
        self.assertEqual([question for question in asked if bool(question["passages"]) is (question["words"] == "none")], [])

    def test_recall_and_refusals_do_not_fall(self):
        found = retrieval.answered()
        self.assertGreaterEqual(sum(found["the manual's"]) + sum(found["others"]), RECALL)
        self.assertGreaterEqual(sum(found["none"]), REFUSED)

    def test_without_the_floor_the_questions_without_an_answer_find_something(self):
        with mock.patch.object(lab, "FLOOR", 0.0):
            self.assertLess(sum(retrieval.answered()["none"]), REFUSED - 5)

    def found(self, files, query, **options):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return [passage["id"] for passage in lab.search(lab.load_corpus(folder), query, **options)]

    def test_words_are_found_whatever_their_case_and_width_and_in_the_order_of_the_documents(self):
        same = "The pump is in the cellar."
        files = {"b.md": same, "a/z.md": same, "a.md": same, "c.md": "Cellar, CELLAR, cellar!", "d.MARKDOWN": "Straße"}
        rows = [
            ("the pump", ["a/z.md#1", "a.md#1", "b.md#1"], "a tie is in the order of the documents"),
            ("ＰＵＭＰ", ["a/z.md#1", "a.md#1", "b.md#1"], "wide letters"),
            ("cellar", ["c.md#1", "a/z.md#1", "a.md#1"], "more often, and the shorter passage"),
            ("STRASSE", ["d.MARKDOWN#1"], "casefold"),
            ("the is in", [], "common words"),
            ("", [], "nothing"),
            ("lantern", [], "a word that is nowhere"),
        ]
        for query, expected, because in rows:
            with self.subTest(because):
                self.assertEqual(self.found(dict(sorted(files.items())), query), expected)

    def test_chinese_and_japanese_questions_find_their_passages(self):
        files = {
            "zh.md": "# 服务\n\n## 重新启动\n\n管理员运行命令来重新启动服务。\n\n## 备份\n\n备份每小时运行一次。磁盘已满时停止写入。\n",
            "ja.md": "# サービス\n\n## 再起動\n\n管理者がコマンドを実行してサービスを再起動します。\n\n## 暗号化\n\n鍵はクライアントだけが持っています。\n",
            "en.md": "# Colours\n\nThe lamp is green.\n",
        }
        rows = [
            ("怎么重新启动服务？", ["zh.md#1"]), ("磁盘满了怎么办", ["zh.md#2"]), ("备份多久运行一次？", ["zh.md#2"]), ("这是什么？", []),
            ("今天天气怎么样", []), ("サービスを再起動するにはどうすればいいですか", ["ja.md#1"]), ("鍵は誰が持っていますか？", ["ja.md#2"]),
            ("どうすればいいですか", []), ("今日の天気は？", []), ("What colour is the lamp?", ["en.md#1"]),
        ]  # fmt: skip
        for query, expected in rows:
            with self.subTest(query):
                self.assertEqual(self.found(files, query)[:1], expected)

    def test_where_passages_begin(self):
        long = "word " * 150
        rows = [
            ("# A\n\ntext\n\n## B ##\nmore\n# C#\nlast", [("A", "text"), ("B", "more"), ("C#", "last")], "headings, with marks behind them"),
            ("before\n# A\n\n# B\ntext", [("", "before"), ("B", "text")], "before the first heading, and one without a text"),
            ("#no heading\n####### seven\n    # code\n#\ttab", [("", "#no heading\n####### seven\n    # code")], "what is not a heading"),
            ("Title\n=====\ntext", [("", "Title\n=====\ntext")], "a line below is not looked at"),
            ("```\n# A\n~~~\n```\n# B\nb", [("", "```\n# A\n~~~\n```"), ("B", "b")], "a fence"),
            ("~~~~ sh\n~~~\n# A\n~~~~~\n# B\nb", [("", "~~~~ sh\n~~~\n# A\n~~~~~"), ("B", "b")], "the end is as long as the beginning"),
            ("```\n# A\n", [("", "```\n# A")], "a fence without an end"),
            ("```inline``` text\n# A\na", [("", "```inline``` text"), ("A", "a")], "code within a line"),
            (f"# A\n{long}\n\n{long}\n\nend", [("A", f"{long}\n\n{long}".strip()), ("A", "end")], "a long text, at a blank line"),
            (f"# A\n```\n{long}\n{long}\n\nend\n```", [("A", f"```\n{long}\n{long}\n\nend\n```")], "a fence is not cut"),
            ("# A\n" + "#" * 50_000 + "\n" + " " * 50_000 + "#", [("A", "#" * 50_000 + "\n" + " " * 50_000 + "#")], "long rows of marks"),
        ]
        for text, expected, because in rows:
            with self.subTest(because):
                self.assertEqual([section for section in lab.sections_of(text) if section[1]], expected)

    def test_the_tools_read_and_there_is_no_fourth(self):
        registry = lab.bind_tools(lab.load_corpus(retrieval.MANUAL))
        types = {name: tool["parameters"] for name, tool in registry.items()}
        self.assertEqual(types, {"search_docs": {"query": str}, "show_last_sources": {}, "doc_metadata": {"doc_id": str}})
        self.assertEqual(types, {name: tool["parameters"] for name, tool in lab.TOOL_REGISTRY.items()})
        state = lab.create_initial_state()
        self.assertIn("Storage", registry["doc_metadata"]["function"](state, doc_id="admin/storage.md"))
        with self.assertRaises(LookupError):
            registry["doc_metadata"]["function"](state, doc_id="admin/storage")
        state, result = lab.answer_from_documents(state, "restart the server", registry)
        self.assertEqual((result["status"], result["cited"][0]), ("answered", "admin/service.md#1"))
        self.assertIn("admin/service.md#1", registry["show_last_sources"]["function"](state))
        self.assertEqual(lab.answer_from_documents(state, "pump", {})[1]["status"], "unknown_tool")


if __name__ == "__main__":
    unittest.main()
