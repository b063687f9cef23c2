"""What a result becomes, read back by real readers: json, csv, xml, base64, and junitparser where it is installed."""

import base64
import csv
import json
import os
import re
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from unittest import mock

from kit import KIT  # noqa: F401 - it puts tests/ on the path

from grader import files
from grader.reports import format_of, formats
from grader.result import FAILED, NOT_RUN, PASSED, WAITING, Failure, Kept, Mark, read_result, verdicts_by_clause
from grader.text import visible

WRITERS = {name: format_of(name).report for name in formats()}

try:
    import junitparser
except ImportError:
    junitparser = None

GROUPS = {"parse_triage": "P1 P2 P3 P4 P5 P6", "run_tool_call": "R1 R2 R3", "triage": "T1 T2 T3", "evaluate": "E1 E2", "command_line": "C1"}
TESTS = [
    {"name": f"test_{clause}".lower(), "function": function, "title": f"{clause} sentence <{clause}> & \u201c{clause}\u201d", "clauses": [clause]}
    for function, clauses in GROUPS.items()
    for clause in clauses.split()
]
NASTY = [
    "Anna Lee", "<script>alert(1)</script>", "</script><!--", "=cmd|' /C calc'!A0", "+1", "-2", "@sum", "\t=1", " =1", "a\rb", "a\nb",
    'quote " and \' and , and ;', "\u5c71\u7530\u3000\u592a\u90ce", "\u041e\u043b\u044c\u0433\u0430", "\u05d0\u202e\u05d1", "\ud800 alone", "nul\0 bell\x07 esc\x1b[31m",
    "\u2028\u2029\ufffe\uffff\x85", "&amp; ]]> %s {0} $x \\u003c", "a;=1+1", "b, \"@sum", "c|-1", "\uff1d1", "=\u200b1",
]
FORMULAS = ["'=cmd|' /C calc'!A0", "'+1", "'-2", "'@sum", "' =1", "a;'=1+1", "b,' \"@sum", "c|'-1", "'\uff1d1", "'=\\u200b1"]


def failure(clause="P5", **texts):
    blank = dict.fromkeys(("call", "expected", "got", "reason", "because", "at"))
    return {"clause": clause, "sentence": f"sentence of {clause}", **blank, "replies": [], **texts}


def submission(name, verdicts, reason=None, text="got", printed="", call=None):
    """Return a submission whose marks have these verdicts, e.g. "pppfw..."; its failures show the text."""
    words = {"p": PASSED, "f": FAILED, "w": WAITING, "n": NOT_RUN}
    path, marks = f"class/{name}_ticket_triage.py", []
    for test, letter in zip(TESTS, verdicts):
        told = None
        if letter != "p":
            clause = test["clauses"][0]
            at = f"{path}, line {len(name)}: return {text}"
            texts = {"call": call or f"call({text})", "replies": [f"{{{call or text}}}", "second"], "expected": "5", "got": text, "because": "why", "at": at}
            told = failure(clause, **({"reason": reason} if reason else texts))
        marks.append({**test, "verdict": words[letter], "seconds": 0.25, "failure": told, "printed": printed})
    first = next((mark["failure"]["clause"] for mark in marks if mark["failure"]), None)
    return {
        "name": name, "path": path, "passed": verdicts.count("p"), "total": len(marks), "seconds": 0.25 * len(marks), "reason": reason,
        "first_failing": first, "clauses": {mark["clauses"][0]: mark["verdict"] for mark in marks}, "marks": marks, "digest": "0" * 64, "edits": [],
        "closed_in": ["files"], "why_not": "", "id": "7", "late": False, "notes": [], "export": f"{name}_ticket_triage.py", "attempt": 1, "form": "",
    }


def result(*submissions, missing=()):
    return {
        "schema": 3, "lab": "ticket_triage", "kit": "0" * 64, "limits": {}, "seed": 0, "complete": not missing, "missing": list(missing), "left_out": [], "seconds": 3.5,
        "started": "2026-10-06T14:03:11+00:00", "tests": TESTS, "submissions": list(submissions),
        "points": {name: len(clauses.split()) for name, clauses in GROUPS.items()},
    }


MIXED = "ppppf" + "p" * 7 + "fwn"
NASTY_CLASS = [submission(name, MIXED, text=name, printed=name * 3) for name in NASTY]
LOADLESS = submission("Ben", "f" * 15, reason="it does not load: SyntaxError: '(' was never closed")
SITUATIONS = {
    "all pass": result(submission("Anna", "p" * 15)),
    "none pass": result(submission("Anna", "w" * 15)),
    "not loaded": result(LOADLESS),
    "one not graded": result(missing=["Zo\u00eb"]),
    "a class": result(submission("Anna", "p" * 15), submission("Cem", MIXED), LOADLESS),
    "interrupted": result(submission("Anna", MIXED), missing=["Zo\u00eb", "Zuri"]),
    "nothing": result(),
    "no marks": result({**LOADLESS, "marks": [], "passed": 0, "total": 0}),
    "nasty": result(*NASTY_CLASS, missing=[f"late {name}" for name in NASTY[:3]]),
}


class Marks(unittest.TestCase):
    """Which mark each clause of a test gets. A row is (clause, what came of it)."""

    def verdicts(self, *rows, title="P5 P7 P8"):
        case = type("ParseTriage", (unittest.TestCase,), {"test_it": lambda self: None})
        case.test_it.__doc__ = "\n".join(f"{clause} A sentence." for clause in title.split())
        mark = Mark(case("test_it"))
        mark.verdict = PASSED
        for clause, reason in rows:
            mark.fail(Failure(clause, reason=reason))
        return mark

    def test_a_clause_fails_by_its_own_rows(self):
        lost = "it ran longer than 5 s"
        rows = [
            ("all pass", [], (PASSED, PASSED, PASSED)),
            ("one row of the second", [("P7", None)], (PASSED, FAILED, PASSED)),
            ("rows of two", [("P8", None), ("P5", None)], (FAILED, PASSED, FAILED)),
            ("the process ends: who comes later did not run", [("P7", lost), ("P7", lost), ("P8", lost)], (PASSED, FAILED, NOT_RUN)),
            ("a clause that failed before the end has failed", [("P8", None), ("P7", lost), ("P8", lost)], (PASSED, FAILED, FAILED)),
            ("outside the rows: nobody knows what was to come", [(None, lost)], (FAILED, NOT_RUN, NOT_RUN)),
            ("a row, then the end outside the rows", [("P7", None), (None, lost)], (NOT_RUN, FAILED, NOT_RUN)),
        ]
        for because, failures, expected in rows:
            with self.subTest(because=because):
                self.assertEqual(self.verdicts(*failures).by_clause(), dict(zip(("P5", "P7", "P8"), expected)))
        self.assertEqual(self.verdicts(("P9", None)).by_clause()["P9"], FAILED)  # a row of a clause that the title does not name

    def test_a_clause_of_several_tests_has_the_gravest_verdict(self):
        """And stands once, with the function whose test names it first, in the order of the contract."""
        marks = [self.verdicts(title="P2 P10"), self.verdicts(("P2", None), title="P9 P2")]
        self.assertEqual(verdicts_by_clause(marks), {"parse_triage": {"P2": FAILED, "P9": PASSED, "P10": PASSED}})


class EveryWriter(unittest.TestCase):
    def test_every_format_can_tell_every_situation(self):
        """A text that UTF-8 can hold, without a control character; a report of one submission refuses a class in one line."""
        for situation, given in SITUATIONS.items():
            for kind, writer in WRITERS.items():
                with self.subTest(situation=situation, kind=kind):
                    if kind in ("gradescope", "classroom") and len(given["submissions"]) + len(given["missing"]) != 1:
                        self.assertRaisesRegex(ValueError, "^this report is of one submission", writer, given)
                        continue
                    text = "".join(writer(given))
                    text.encode("utf-8")
                    self.assertNotRegex(text, "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u202e\ufffe]")

    def test_names_stay_readable(self):
        """Letters of every writing stay, what cannot be seen becomes an escape."""
        for text in ("\u5c71\u7530\u3000\u592a", "Zo\u00eb \U0001f600", "\u05d0\u05d1"):
            self.assertEqual(visible(text), text)
        self.assertEqual(visible("a\nb\x1b\ud800\u202e"), "a\\nb\\x1b\\ud800\\u202e")


class Json(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "result.json"

    def test_a_result_is_read_back_as_it_was(self):
        """Whatever names and texts it holds; and a submission is one line of the file."""
        for situation, given in SITUATIONS.items():
            with self.subTest(situation=situation):
                files.write(self.path, WRITERS["json"](given))
                self.assertEqual(read_result(self.path), given)
                self.assertGreaterEqual(len(self.path.read_bytes().splitlines()), len(given["submissions"]) + 2)

    def test_what_is_no_result_is_refused_in_one_line(self):
        """The line names the file and what is wrong."""
        def changed(**fields):
            return {**SITUATIONS["a class"], **fields}

        def with_mark(**fields):
            anna = submission("Anna", "p" * 15)
            anna["marks"][4] = {**anna["marks"][4], **fields}
            return changed(submissions=[anna])

        anna = submission("Anna", "p" * 15)
        rows = {
            "an older schema": (changed(schema=0), "schema"), "true is not 1": (changed(schema=True), "schema"), "a list": ([], "schema"),
            "tests are not a list": (changed(tests={}), "tests"), "names are texts": (changed(missing=[1]), "missing"),
            "a submission is an object": (changed(submissions=["Anna"]), "submission"), "a test is one": (changed(tests=[7]), "test"),
            "no digest": (changed(submissions=[{key: anna[key] for key in anna if key != "digest"}]), "digest"),
            "a bool is not a number": (changed(submissions=[{**anna, "seconds": True}]), "seconds"),
            "fifteen marks": (changed(submissions=[{**anna, "marks": anna["marks"][:14]}]), "marks"),
            "passed is counted": (changed(submissions=[{**anna, "passed": 14}]), "passed"),
            "an unknown verdict": (with_mark(verdict="<b>"), "verdict"), "a failure has texts": (with_mark(failure=failure(got=5)), "got"),
            "replies are texts": (with_mark(failure=failure(replies=[5])), "replies"),
            "a mark is of its test": (with_mark(function=["x"]), "marks"), "of another": (with_mark(function="triage"), "marks"),
            "infinite points": (changed(points={**SITUATIONS["a class"]["points"], "triage": float("1e999")}), "Infinity"),
            "endless seconds": (with_mark(seconds=10**400), "seconds"), "many points": (changed(points={**SITUATIONS["a class"]["points"], "triage": 10**400}), "points"),
            "a test of no clause": (changed(tests=[{**SITUATIONS["a class"]["tests"][0], "clauses": []}]), "clauses"),
            "NaN is not JSON": (changed(seconds=float("nan")), "NaN"),
        }
        for because, (given, named) in rows.items():
            with self.subTest(because=because):
                self.path.write_text(json.dumps(given), encoding="utf-8")
                self.refused(named)
        for because, content in {"half": b'{"schema": 1', "bytes": b"\xff\xfe", "deep": b"[" * 200_000, "empty": b"", "no head": b"5\n7\n", "a list": b"[1e999]\n"}.items():
            for self.path in (self.path.with_suffix(".json"), self.path.with_suffix(".kept")):
                with self.subTest(because=because, path=self.path.name):
                    self.path.write_bytes(content)
                    self.refused("verify.py --json")
                self.path.unlink()
        self.assertRaises(FileNotFoundError, read_result, self.path)
        self.assertRaisesRegex(ValueError, "not a result of verify.py --json: ", read_result, os.devnull)  # /dev/zero has no end

    def test_where_nothing_can_be_kept_the_file_is_named_and_what_was_kept_stays(self):
        kept = Kept(self.path)
        kept.path.write_text("before", encoding="utf-8")
        with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")), self.assertRaisesRegex(OSError, "No space left on device: .*result.kept"):
            kept(SITUATIONS["a class"])
        self.assertEqual(([path.name for path in self.path.parent.iterdir()], kept.path.read_text(encoding="utf-8")), (["result.kept"], "before"))

    def refused(self, named):
        with self.assertRaises(ValueError) as caught:
            read_result(self.path)
        self.assertIn(named, str(caught.exception))
        self.assertEqual(len(str(caught.exception).splitlines()), 1)


class Csv(unittest.TestCase):
    def read(self, given):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "grades.csv"
            files.write(path, WRITERS["csv"](given))
            self.assertEqual(path.read_bytes().count(b"\r\n"), path.read_bytes().count(b"\n"))
            self.assertEqual(path.read_bytes()[:3], b"\xef\xbb\xbf")  # else Excel takes UTF-8 for something else
            with open(path, encoding="utf-8-sig", newline="") as file:
                return list(csv.DictReader(file))

    def test_a_gradebook_has_a_row_for_each_submission(self):
        """Counts, percent, a column per function, the first failing clause, the status; who did not run has no number."""
        late = {**submission("Cem", MIXED), "late": True, "notes": ["a note"], "edits": ["show: provided, and changed here"], "attempt": 2}
        rows = self.read(result(late, LOADLESS, submission("Dil", "p" * 15), missing=["Zuri"]))
        more = ["notes", "changed what is provided", "points", "max points", "file", "attempt", "same form as"]
        self.assertEqual(list(rows[0]), ["name", "passed", "total", "percent", *GROUPS, "first failing clause", "status", "reason", "id", "late", *more])
        self.assertEqual([list(row.values()) for row in rows], [
            ["Cem", "11", "15", "73.3", "5", "3", "3", "0", "0", "P5", "failed", "", "7", "late", "a note", "show: provided, and changed here", "11", "15",
             "Cem_ticket_triage.py", "2", ""],
            ["Ben", "", "15", "", *[""] * 6, "did not run", LOADLESS["reason"], "7", "", "", "", "", "15", "Ben_ticket_triage.py", "1", ""],
            ["Dil", "15", "15", "100.0", "6", "3", "3", "2", "1", "", "passed", "", "7", "", "", "", "15", "15", "Dil_ticket_triage.py", "1", ""],
            ["Zuri", "", "15", "", *[""] * 6, "not graded", "the grading was interrupted before it", "", "", "", "", "", "15", "", "", ""],
        ])

    def test_submissions_of_one_form_name_each_other(self):
        alike = [{**submission(name, MIXED), "form": form} for name, form in (("Ed", "f1"), ("Fay", ""), ("Gus", "f1"), ("Hal", "f2"), ("Ivy", "f1"), ("Jo", ""))]
        self.assertEqual([row["same form as"] for row in self.read(result(*alike))], ["Gus, Ivy", "", "Ed, Ivy", "", "Ed, Gus", ""])

    def test_a_table_of_the_class_by_clauses(self):
        """Passed, failed, not written, not run; who did not run is not counted."""
        given = result(submission("Cem", MIXED), LOADLESS, submission("Dil", "p" * 15), missing=["Zuri"])
        rows = list(csv.DictReader(WRITERS["clauses"](given).lstrip("\ufeff").splitlines()))
        counts = {row["clause"]: [row[head] for head in ("passed", "failed", "not written", "not run", "percent passed")] for row in rows}
        self.assertEqual(list(counts), " ".join(GROUPS.values()).split())
        self.assertEqual({clause: counts[clause] for clause in ("P1", "P5", "E2", "C1")},
                         {"P1": ["2", "0", "0", "0", "100"], "P5": ["1", "1", "0", "0", "50"], "E2": ["1", "0", "1", "0", "50"], "C1": ["1", "0", "0", "1", "50"]})
        self.assertEqual(rows[0]["function"], "parse_triage")

    def test_no_cell_is_a_formula(self):
        """Whatever a name begins with; other names stay as they are."""
        names = [row["name"] for row in self.read(result(*NASTY_CLASS))]
        self.assertEqual(len(names), len(NASTY))
        for given, name in zip(NASTY, names):
            with self.subTest(given=given):
                self.assertEqual(name.replace("'", ""), visible(given).replace("'", ""))
                for part in re.split("[,;|\t]", name):  # as spreadsheets of other countries read a line
                    self.assertNotRegex(part, "^[ \"]*[=+@\uff1d\uff0b\uff0d\uff20-]")
        self.assertEqual([name for given, name in zip(NASTY, names) if name != visible(given)], FORMULAS)


class JUnit(unittest.TestCase):
    def test_the_counts_are_true_and_nothing_looks_harmless(self):
        """tests and failures of each suite and of all are what stands below; waiting and not run are failures."""
        for situation, given in SITUATIONS.items():
            with self.subTest(situation=situation):
                root = ET.fromstring(WRITERS["junit"](given).encode("utf-8"))
                rows = given["submissions"] + [{"passed": 0}] * len(given["missing"])
                self.assertEqual(len(root), len(rows))
                for suite, row in zip(root, rows):
                    self.assertEqual((len(suite), len(suite.findall("*/failure"))), (15, 15 - row["passed"]))
                for level in [root, *root]:
                    cases, failures = len(list(level.iter("testcase"))), len(list(level.iter("failure")))
                    counts = [int(level.get(name)) for name in ("tests", "failures", "errors", "skipped")]
                    self.assertEqual(counts, [cases, failures, 0, 0])
                keys = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
                self.assertEqual(len(keys), len(set(keys)))

    def test_a_failure_says_what_happened_and_times_are_seconds(self):
        """In its text, which GitLab reads, and its clause in the message."""
        suite = ET.fromstring(WRITERS["junit"](result(submission("Cem", MIXED, text="<7> & '"))).encode())[0]
        told = suite.find("testcase[5]/failure")
        self.assertEqual(told.get("message"), "P5  sentence of P5")
        self.assertEqual(told.text.splitlines(), [
            "P5  sentence of P5", "call      call(<7> & ')", "reply 1   {<7> & '}", "reply 2   second", "expected  5", "got       <7> & '",
            "why       why", "at        class/Cem_ticket_triage.py, line 3: return <7> & '",
        ])
        self.assertEqual([failure.get("type") for failure in suite.iter("failure")], [FAILED, FAILED, WAITING, NOT_RUN])
        self.assertNotIn("why ", suite.find("testcase[14]/failure").text)  # a trap is not news to who has not written it yet
        self.assertEqual((suite.get("time"), suite[0].get("time"), suite.get("timestamp")), ("3.750", "0.250", "2026-10-06T14:03:11"))

    @unittest.skipUnless(junitparser, "junitparser is not installed (pip install junitparser)")
    def test_junitparser_reads_the_same(self):
        """A reader that people use agrees about suites, counts and results."""
        xml = junitparser.JUnitXml.fromstring(WRITERS["junit"](SITUATIONS["nasty"]).encode("utf-8"))
        self.assertEqual((len(list(xml)), xml.tests, xml.failures, xml.skipped), (len(NASTY) + 3, 15 * (len(NASTY) + 3), 4 * len(NASTY) + 45, 0))
        cases = [case for suite in xml for case in suite]
        self.assertEqual(sum(case.is_passed for case in cases), 15 * (len(NASTY) + 3) - (4 * len(NASTY) + 45))


class Autograders(unittest.TestCase):
    ONE = [result(one) for one in [*NASTY_CLASS, LOADLESS, submission("Dil", "p" * 15)]] + [SITUATIONS["one not graded"], SITUATIONS["no marks"]]
    GRADESCOPE = {
        "": {"output": str, "output_format": str, "execution_time": (int, float), "tests": list},
        "tests": {"name": str, "number": str, "score": int, "max_score": int, "status": str, "output": str, "output_format": str, "visibility": str},
    }

    def test_gradescope_gets_what_its_specification_names(self):
        """Only known fields, no score at the top, a point a test; formats, states and visibility out of its words."""
        for given in self.ONE:
            report = json.loads(WRITERS["gradescope"](given))
            for record, fields in [(report, self.GRADESCOPE[""]), *((test, self.GRADESCOPE["tests"]) for test in report["tests"])]:
                self.assertEqual(record.keys(), fields.keys())
                self.assertTrue(all(isinstance(record[name], kind) for name, kind in fields.items()))
            passed = sum(given["passed"] for given in given["submissions"])
            self.assertEqual((sum(test["score"] for test in report["tests"]), sum(test["max_score"] for test in report["tests"])), (passed, 15))
            self.assertEqual(sum(test["status"] == "passed" for test in report["tests"]), passed)
            self.assertEqual({test["status"] for test in report["tests"]} - {"passed", "failed"}, set())
            self.assertEqual({test["visibility"] for test in report["tests"]}, {"visible"})
        numbers = [test["number"] for test in report["tests"]]
        self.assertEqual((numbers[0], numbers[5], numbers[6], numbers[14]), ("1.1", "1.6", "2.1", "5.1"))

    def test_a_student_reads_what_happened(self):
        """Clause, call, expected, got and why; and why a submission did not run."""
        given = result(submission("Cem", MIXED, text="seven"))
        classroom = json.loads(base64.b64decode(WRITERS["classroom"](given)))["tests"][4]["message"]
        for text in (json.loads(WRITERS["gradescope"](given))["tests"][4]["output"], classroom):
            for part in ("P5  sentence of P5", "call(seven)", "expected  5", "got       seven", "why"):
                self.assertIn(part, text)
        self.assertIn("never closed", json.loads(WRITERS["gradescope"](result(LOADLESS)))["output"])

    def test_classroom_always_gets_points_and_a_status(self):
        """The grade is the sum of the tests' scores, of max_score; pass, fail or error."""
        for given in self.ONE:
            report = json.loads(base64.b64decode(WRITERS["classroom"](given), validate=True).decode("utf-8"))
            passed = sum(given["passed"] for given in given["submissions"])
            self.assertEqual((sum(test["score"] for test in report["tests"]), report["max_score"], len(report["tests"])), (passed, 15, 15))
            whole = given["submissions"] and not given["submissions"][0]["reason"]
            self.assertEqual(report["status"], "pass" if passed == 15 else "fail" if whole else "error")

    def test_classroom_fits_into_an_environment_variable(self):
        """The reporter gets it in one, and Linux allows 128 KiB."""
        for text in ("x" * 200, "\U0001f600" * 60_000):
            encoded = WRITERS["classroom"](result(submission("Cem", MIXED, text=text, printed=text * 3)))
            self.assertLess(len(encoded), 128 * 1024 - 100)
            self.assertIn(text[:40], base64.b64decode(encoded).decode("utf-8"))

    def test_no_text_gives_the_runner_an_order(self):
        """The reporter prints messages, and a line with ::notice or ##[notice] could forge the grade it reports."""
        order = 'notice title=Autograding report::{"totalPoints":15,"maxPoints":15}'
        for text in (f"x\n::{order}", f"::{order}", f"  \r\n ::{order}", f"a ##[{order}]", f"\u2028::{order}"):
            with self.subTest(text=text):
                encoded = WRITERS["classroom"](result(submission("Cem", MIXED, text=text, printed=text)))
                for test in json.loads(base64.b64decode(encoded))["tests"]:
                    for line in re.split("[\r\n\u2028\x85]", test["message"]):
                        self.assertFalse(line.strip().startswith("::") or "##[" in line, line)


class Files(unittest.TestCase):
    def test_a_file_is_written_whole_or_not_at_all(self):
        """A text that cannot be written leaves the old file, and nothing beside it; newlines stay as they are."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.txt"
            files.write(path, "old\n")
            self.assertRaises(UnicodeEncodeError, files.write, path, "x" * 100_000 + "\ud800")
            with mock.patch("os.replace", side_effect=OSError("full")):
                self.assertRaises(OSError, files.write, path, "new")
            self.assertEqual((path.read_bytes(), os.listdir(folder)), (b"old\n", ["r.txt"]))
            files.write(path, "new\r\nline\n")
            self.assertEqual(path.read_bytes(), b"new\r\nline\n")
            self.assertRaises(OSError, files.write, Path(folder) / "none" / "r.txt", "x")
            self.assertRaises(OSError, files.write, folder, "x")
            self.assertEqual(os.listdir(folder), ["r.txt"])

    @unittest.skipIf(os.name == "nt", "NUL is not a path here")
    def test_a_device_is_written_to_and_not_replaced(self):
        files.write(os.devnull, "text")
        self.assertFalse(Path(os.devnull).is_file())
