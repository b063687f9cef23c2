"""What goes back to a platform: a gradebook with its grades filled in, feedback under the platform's names, points, a roster, other tools."""

import argparse
import csv
import io
import os
import shutil
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from kit import KIT, run, solution_of
from test_reports import GROUPS, LOADLESS, MIXED, result, submission

from grader.cohort import Stop, grade_class
from grader.handback import HandBack
from grader.handback.feedback import feedback_files, names_for, safe_name
from grader.handback.gradebook import Gradebook
from grader.handback.similarity import slug
from grader.intake.forms import FORM_LIMIT, form_of
from grader.intake.roster import keys_of, matched, people_of, with_absent
from grader.intake.sheet import Sheet
from grader.intake.targets import Submission, UsageError
from grader.line.process import Limits
from grader.points import points_of, read_points
from grader.result import PASSED, rows_of
from grader.screen.screen import Progress, width_of

LAB = "ticket_triage"
FUNCTIONS = {name: len(clauses.split()) for name, clauses in GROUPS.items()}
MOODLE = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed","Last modified (submission)","Last modified (grade)","Feedback comments"\r\n'
    'Participant 101,"Anna Lee",anna@uni.example,"Submitted for grading",,15.00,Yes,"Monday, 30 November 2026, 10:15 AM",-,\r\n'
    'Participant 102,"Fox, ""Dr."" Cy",cy@uni.example,"Submitted",3.00,15.00,Yes,-,-,"=1+1"\r\n'
    'Participant 103,"Jos\u00e9 \u00d1u",jo@uni.example,"Submitted",-,15.00,No,-,-,"two\r\nlines"\r\n'
    'Participant 104,"Ben Ek",ben@uni.example,"No submission",,15.00,Yes,-,-,\r\n'
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Essay (9001),Ticket triage (9002),Current Score,Final Score\n"
    ",,,,,Manual Posting,,(read only),(read only)\n"
    "    Points Possible,,,,,10,15,(read only),(read only)\n"
    '"Lee, Anna",101,S1,anna,One,7,,70,50\n'
    '"O\'Brien, Se\u00e1n",102,S2,sean,One,8,EX,80,60\n'
    '"Lee, Anna",103,S3,anna2,Two,9,N/A,90,60\n'
    '"Student, Test",999,,x,One,,,,\n'
)


def handed(name, verdicts="p" * 15, number="", **more):
    return {**submission(name, verdicts), "id": number, **more}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-back-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def sheet(self, text, name="sheet.csv", encoding="utf-8"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path


class Sheets(Folder):
    def test_a_sheet_comes_back_as_it_came(self):
        """Byte by byte, whatever its mark, separator, quotes and line ends; the csv module reads the same cells."""
        rows = {
            "Moodle": MOODLE, "Canvas": CANVAS, "semicolons": "Name;ID\nA;1\n", "tabs": "Name\tID\nA\t1", "a mark": "\ufeffName,ID\r\nA,1\r\n",
            "blank lines": "\n\nName,ID\n\nA,1\n\n", "old Mac": "Name,ID\rA,1\r", "empty cells": "Name,ID,\n,,\nA,,\n", "quotes": 'Name,ID\n"a ""b"" c","1"\n',
            "a quote inside": 'Name,ID\na "b" c,1\n', "short rows": "Name,ID,Grade\nA\nB,2\n", "Excel's first line": "sep=;\nName;ID\nA;1\n",
        }
        for what, text in rows.items():
            with self.subTest(what=what):
                sheet = Sheet(self.sheet(text))
                self.assertEqual(sheet.filled({}), text.encode("utf-8"))
                plain = text.lstrip("\ufeff").replace("sep=;\n", "")
                known = [row for row in csv.reader(io.StringIO(plain, newline=""), delimiter=sheet.separator) if row and (len(row) > 1 or row[0])]
                self.assertEqual([[cell.value for cell in row] for row in sheet.rows], known[1:])
        for encoding in ("utf-16", "cp1252"):
            path = self.sheet(MOODLE, encoding=encoding)
            self.assertEqual(Sheet(path).filled({}), path.read_bytes())

    def test_what_is_not_a_sheet_is_refused_in_one_line(self):
        rows = {"no such": None, "a workbook": b"PK\x03\x04 ...", "empty": b"", "a quote without end": b'Name,ID\n"A,1\n', "an image": b"\x89PNG\r\n\x1a\n\x81\x8d",
                "one column": b"Anna", "no names": b"a,b\n1,2\n"}
        for what, content in rows.items():
            path = self.folder / "nothing.csv" if content is None else self.sheet(content)
            with self.subTest(what=what), self.assertRaises(UsageError) as caught:
                people_of(Sheet(path))
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
            self.assertIn(str(path), str(caught.exception))

    def test_a_sheet_is_read_in_a_straight_line(self):
        for text in ('"' * 300_001, "a,\n" * 100_000, ',"' * 100_000, '""' * 200_000, "\r" * 300_000, ";" * 300_000):
            try:
                Sheet(self.sheet("Name,ID\n" + text))
            except UsageError:
                pass  # a quote without an end


class Rosters(Folder):
    def test_who_is_in_a_sheet(self):
        """The name and the id that exports give, of the sheets that people have."""
        rows = [
            (MOODLE, [("Anna Lee", "101"), ('Fox, "Dr." Cy', "102"), ("Jos\u00e9 \u00d1u", "103"), ("Ben Ek", "104")]),
            (CANVAS, [("Lee, Anna", "101"), ("O'Brien, Se\u00e1n", "102"), ("Lee, Anna", "103")]),
            ("identifier,github_username,github_id,name\nS1,alee,77,Anna Lee\n", [("Anna Lee", "S1")]),
            ("First Name,Last Name,SID,Email\nAnna,Lee,S1,a@x\nB\u00f6,Ek,S2,b@x\n", [("Anna Lee", "S1"), ("B\u00f6 Ek", "S2")]),
            ("ID;Vollst\u00e4ndiger Name;Bewertung\nTeilnehmer/in 7;J\u00f6rg \u00df;\n", [("J\u00f6rg \u00df", "7")]),
            ("Identifiant,Nom complet,Note\nParticipant 7,Zo\u00e9,\nParticipant 8,Ys\u00e9,\n", [("Zo\u00e9", "7"), ("Ys\u00e9", "8")]),
            ("Identifier,Grade\nParticipant 7,\n", [("Participant 7", "7")]),
            ("LastName,FirstName,ID,Section\n\u5c71\u7530,\u592a\u90ce,5,A\n", [("\u592a\u90ce \u5c71\u7530", "5")]),
        ]
        for text, people in rows:
            with self.subTest(text=text[:30]):
                self.assertEqual([(person.name, person.id) for person in people_of(Sheet(self.sheet(text)))], people)

    def test_names_are_the_same_in_whatever_form(self):
        for one, other in (("Lee, Anna", "Anna Lee"), ("Lee, Anna", "leeanna"), ("Jos\u00e9 \u00d1u", "jose nu"), ("O'Brien, Se\u00e1n", "obriense\u00e1n"), ("M\u00fcller, J\u00f6rg", "Jo\u0308rg Mu\u0308ller"),
                           ("de la Cruz, Ana", "Ana de la Cruz"), ("\u5c71\u7530 \u592a\u90ce", "\u5c71\u7530\u3000\u592a\u90ce"), ("anna.lee", "Anna Lee"), ("Anna_Lee", "Lee Anna")):
            self.assertTrue(keys_of(one) & keys_of(other), (one, other))
        for one, other in (("Anna Lee", "Anna Leeds"), ("Bo", "Bob"), ("", ""), ("\u5c71\u7530", "\u5c71\u672c"), ("...", "---")):
            self.assertFalse(keys_of(one) & keys_of(other), (one, other))

    def test_an_id_tells_more_than_a_name(self):
        people = people_of(Sheet(self.sheet(CANVAS)))
        rows = [
            ([("leeanna", "101"), ("leeanna (103)", "103")], {0: "101", 1: "103"}, []),
            ([("leeanna", "")], {}, [0]),  # two have this name
            ([("leeanna", "555"), ("obriense\u00e1n", "102")], {1: "102"}, []),  # a number of this sheet's kind that nobody has
            ([("sean", "")], {0: "102"}, []),  # a login
            ([("obrien se\u00e1n", ""), ("Se\u00e1n O'Brien", "")], {}, [0, 1]),  # two for one row
            ([("nobody", "")], {}, []), ([], {}, []),
        ]
        for submissions, found, several in rows:
            with self.subTest(submissions=submissions):
                pairs, unclear = matched([Submission(name, "", number) for name, number in submissions], people)
                self.assertEqual(({place: person.id for place, person in pairs.items()}, unclear), (found, several))

    def test_who_handed_in_nothing_has_a_row(self):
        people = people_of(Sheet(self.sheet(MOODLE)))
        everybody = with_absent([Submission("Anna Lee", Path("a.py"), "101"), Submission("Zed", Path("z.py"), "9")], people)
        self.assertEqual([(each.name, each.attempt) for each in everybody],
                         [("Anna Lee", 1), ("Zed", 1), ('Fox, "Dr." Cy', 0), ("Jos\u00e9 \u00d1u", 0), ("Ben Ek", 0)])
        self.assertEqual(everybody[-1].place, "nothing was handed in")

    def test_who_is_in_a_sheet_twice_is_not_called_absent(self):
        """A sheet of two sections, or one id for two people: whose the submission is cannot be told, and that is said."""
        anna, bo = Submission("Anna Lee", Path("a.py"), "101"), Submission("Bo Ek", Path("b.py"), "102")
        for rows in ("101,Anna Lee\n101,Anna Lee\n102,Bo Ek\n103,Cy\n", "102,Bo Ek\n101,Anna Lee\n101,Di Fox\n103,Cy\n", "0,Bo Ek\n101,Anna Lee\n101,Anna Lee\n103,Cy\n"):
            people = people_of(Sheet(self.sheet(f"ID,Name\n{rows}")))
            with self.subTest(rows=rows):
                self.assertEqual([each.name for each in with_absent([anna, bo], people)], ["Anna Lee", "Bo Ek", "Cy"])
                self.assertEqual(matched([anna, bo], people)[1], [0])
        people = people_of(Sheet(self.sheet("Name,Section\nAnna Lee,A\nBo Ek,B\nCy,B\n")))  # nobody has an id
        for number in ("", "101"):
            self.assertEqual([each.name for each in with_absent([anna._replace(id=number), bo], people)], ["Anna Lee", "Bo Ek", "Cy"])
            self.assertEqual(matched([anna._replace(id=number), bo], people)[1], [])


class Gradebooks(Folder):
    def fill(self, text, *entries, column=None):
        book = Gradebook(self.sheet(text), column, LAB)
        data, lines = book.fill(rows_of(result(*entries)), 15)
        return data.decode("utf-8"), lines

    def test_only_the_cells_of_grades_change(self):
        """Not those of who did not run, is excused or locked; who is in the one and not in the other is named."""
        data, lines = self.fill(MOODLE, handed("Anna Lee", MIXED, "101"), {**LOADLESS, "name": "Cy", "id": "102"}, handed("Jos\u00e9", number="103"),
                                handed("Zed", number="900"), handed("Nil", "n" * 15, number="104", attempt=0))
        self.assertEqual(data, MOODLE.replace('grading",,', 'grading",11,'))
        told = "\n".join(lines)
        for part in ("1 of 4 grades", "'Grade'", "handed in nothing: 1 (Ben Ek)", "not in the sheet: 1 (Zed)", "Did not run: the cell is as it was: 1 (Fox", "locked: the cell is as it was: 1 (Jos"):
            self.assertIn(part, told)
        data, lines = self.fill(CANVAS, handed("leeanna", MIXED, "101"), handed("obrien", number="102"), handed("leeanna (103)", number="103"))
        self.assertEqual(data, CANVAS.replace(",One,7,,", ",One,7,11,"))
        self.assertIn("2 (O'Brien, Se\u00e1n, Lee, Anna)", "\n".join(lines))

    def test_the_column_of_grades_is_found_or_asked_for(self):
        two = CANVAS.replace("Ticket triage", "Lab one")
        rows = [
            (MOODLE, None, "Grade"), (CANVAS, None, "Ticket triage (9002)"), (CANVAS, "Essay", "Essay (9001)"), (two, "lab one (9002)", "Lab one (9002)"),
            (MOODLE.replace("Grade,", "Punkte,", 1), "Punkte", "Punkte"), (CANVAS.replace("Essay (9001)", "Ticket_Triage draft (1)"), "ticket triage (9002)", "Ticket triage (9002)"),
            ("ID;Vollst\u00e4ndiger Name;Bewertung;Bestwertung\nTeilnehmer/in 7;J;;15,00\n", None, "Bewertung"),
            ("OrgDefinedId,Username,Ticket Triage Points Grade <Numeric MaxPoints:15>,End-of-Line Indicator\n#1,#a,,#\n", None, "Ticket Triage Points Grade <Numeric MaxPoints:15>"),
        ]
        for text, column, head in rows:
            book = Gradebook(self.sheet(text), column, LAB)
            self.assertEqual(book.sheet.heads[book.column], head)
        for text, column in ((two, None), (CANVAS, "Nothing"), (CANVAS, "(900"), (CANVAS, ""), (MOODLE.replace("Grade,", "Punkte,", 1), None)):
            with self.subTest(column=column), self.assertRaises(UsageError) as caught:
                Gradebook(self.sheet(text), column, LAB)
            self.assertIn("--grade-column", str(caught.exception))

    def test_points_that_the_sheet_does_not_take_are_told_before_grading(self):
        book = Gradebook(self.sheet(MOODLE), None, LAB)
        book.refuse_too_many(15)
        with self.assertRaisesRegex(UsageError, "its maximum is 15, and all tests together are worth 100"):
            book.refuse_too_many(100)
        self.assertIn("The sheet's maximum is 15", book.told({}, 7.5)[1])


class Points(unittest.TestCase):
    def test_functions_share_their_points(self):
        self.assertEqual(read_points("", FUNCTIONS), FUNCTIONS)
        self.assertEqual(read_points("parse_triage=30, triage=40.5", FUNCTIONS), {**FUNCTIONS, "parse_triage": 30, "triage": 40.5})
        points = read_points("parse_triage=10,run_tool_call=10,triage=10,evaluate=0,command_line=0", FUNCTIONS)
        for verdicts, worth in (("p" * 15, 30), ("f" * 15, 0), ("p" + "f" * 14, 1.67), ("f" * 6 + "pp" + "f" * 7, 6.67), ("f" * 12 + "ppp", 0), ("p" * 6 + "f" * 9, 10)):
            self.assertEqual(points_of(points, submission("A", verdicts)["marks"], PASSED), worth)

    def test_what_is_not_points_is_refused(self):
        for text in ("parse_triage", "parse_triage=", "parse_triage=-1", "nothing=3", "parse_triage=1,parse_triage=2", "parse_triage=1e3", "=3", ",", "parse_triage=nan", "triage=3;evaluate=4",
                     ",".join(f"{name}=0" for name in FUNCTIONS)):
            with self.subTest(text=text), self.assertRaises(ValueError) as caught:
                read_points(text, FUNCTIONS)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)


class Feedback(unittest.TestCase):
    def test_names_go_back_as_the_platform_gave_them(self):
        rows = [
            ("Anna Lee_101_assignsubmission_file_/", "Anna Lee_101_assignsubmission_file_", "/feedback"),
            ("Anna Lee_101_assignsubmission_file_ticket_triage.py", "Anna Lee_101_assignsubmission_file_", "feedback"),
            ("leeanna_LATE_101_555_ticket_triage-1.py", "leeanna_LATE_101_555_ticket_triage-1", ""),
            ("1-2 - Ivy Lo - Nov 30, 2026 1015 AM/", "1-2 - Ivy Lo - Nov 30, 2026 1015 AM", "/feedback"),
            ("anna.lee/", "anna.lee", "/feedback"), ("anna.lee_1_work.py", "anna.lee_1_work", ""), ("CON/", "_CON", "/feedback"), ("a:b?/", "a_b_", "/feedback"),
            ("ends.../", "ends___", "/feedback"), (".hidden/", ".hidden", "/feedback"), ("aux.py", "_aux", ""), ("\u05d0\u05d1_7_t.py", "\u05d0\u05d1_7_t", ""), ("~x/", "_~x", "/feedback"),
        ]
        for export, head, tail in rows:
            self.assertEqual(names_for(export), (head, tail), export)
        for name in ("\u5c71" * 300, "a" * 300, "\ud800", "", ".", "..", "/", "\0", "\\..\\x"):
            safe = safe_name(name)
            self.assertTrue(safe and safe not in (".", "..") and not set(safe) & set('/\\:*?"<>|\0'), name)
            self.assertLessEqual(len(safe.encode("utf-8")), 200)

    def test_each_student_gets_a_page_and_a_text_of_their_own(self):
        """No name of another, no path of the instructor's machine; who handed in nothing gets none."""
        entries = [
            handed("Anna", MIXED, "1", export="Anna_1_assignsubmission_file_/", form="f", path="/home/prof/class/Anna_ticket_triage.py"),
            handed("anna", "p" * 15, "2", export="anna_1_assignsubmission_file_/", form="f"),
            handed("<b>&", MIXED, "3", export="b_3_ticket_triage.py"), handed("Nil", "n" * 15, "4", attempt=0), {**LOADLESS, "export": "Ben_5_x.py"},
        ]
        files = feedback_files({**result(*entries), "left_out": ["secret.txt"]})
        self.assertEqual(sorted(files), sorted(f"{head}{kind}" for kind in (".html", ".txt") for head in (
            "Anna_1_assignsubmission_file_/feedback", "anna_1_assignsubmission_file_-2/feedback", "b_3_ticket_triage", "Ben_5_x")))
        page, text = (files[f"Anna_1_assignsubmission_file_/feedback.{kind}"].decode("utf-8") for kind in ("html", "txt"))
        for content in (page, text):
            for secret in ("/home/prof", "secret.txt", "Nil", "&lt;b&gt;"):
                self.assertNotIn(secret, content)
        self.assertIn("11 of 15 passed", text)
        self.assertIn("ticket_triage.py, line 4", text)
        self.assertIn("does not load", files["Ben_5_x.txt"].decode("utf-8"))
        self.assertIn("&lt;b&gt;&amp;", files["b_3_ticket_triage.html"].decode("utf-8"))


class Forms(unittest.TestCase):
    SOURCE = '"""Doc."""\nimport json\nLIMIT = 3\n\n\ndef f(reply, top=1):\n    """Say."""\n    value = json.loads(reply)  # c\n    if value > LIMIT:\n' \
             '        raise ValueError(f"{value!r} big: value")\n    return [x for x in value]\n\n\ndef g(t):\n    return t.strip()\n'

    def test_names_comments_blanks_and_order_do_not_count(self):
        same = 'import json\nLIMIT = 3\ndef g(text):\n  return text.strip()\n\ndef f(r,\n   top=1):\n  # other\n  v = json.loads( r )\n' \
               "  if v > LIMIT:\n        raise ValueError(f'{v!r} big: value')\n  return [y for y in v]\n"
        self.assertEqual(form_of(self.SOURCE), form_of(same))
        self.assertEqual(form_of(self.SOURCE), form_of(self.SOURCE.replace("\n", "\n\n").replace("    ", "\t")))
        for before, after in (("> LIMIT", "< LIMIT"), ("loads", "load"), ("strip", "lstrip"), ("= 3", "= 4"), ("big", "small"), ("top=1", "top=1, x=2"), ("        raise", "    raise"),
                              ("x for x in", "x for y in"), ("!r", "!s"), ("import json", "")):
            with self.subTest(after=after):
                self.assertNotEqual(form_of(self.SOURCE), form_of(self.SOURCE.replace(before, after)))
        self.assertEqual([form_of(""), form_of("# only\n\n"), form_of("x = 1\n" * FORM_LIMIT)], ["", "", ""])

    def test_no_source_takes_long(self):
        for part in ('"""\\"', "(", "{f\"{", "'\"'", "\\\n", 'f"{', "a.", " ", "#", "x\n", "@\n", "'''\\", "\0", "\ud800", "\u2028"):
            form_of(part * (FORM_LIMIT // len(part)))


class Commands(Folder):
    def test_a_class_goes_back(self):
        """The whole way, with names that make trouble: graded, the sheet filled, feedback in a zip, laid out for other tools."""
        export = self.folder / "export"
        sources = [("Anna Lee", 101, solution_of(LAB)), ("Jos\u00e9 \u00d1u", 103, solution_of(LAB) + "\n\n# mine\n"), ("Ben Ek", 104, "x = (\n")]
        for name, number, source in sources:
            place = export / f"{name}_{number}_assignsubmission_file_"
            place.mkdir(parents=True)
            (place / f"{LAB}.py").write_text(source, encoding="utf-8")
        sheet = self.sheet(MOODLE.replace("15.00", "30.00").replace(",No,", ",Yes,"))
        done = run(KIT / "verify.py", export, "--gradebook", sheet, "--points", "parse_triage=21", "--feedback", self.folder / "back.zip", "--csv", self.folder / "g.csv",
                   "--export-for-similarity", self.folder / "alike", "--seed", "0")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        for part in ("Wrote", "30 points: parse_triage 21, run_tool_call 3", "hint, not a verdict", "1 handed in nothing", "nothing was handed in", "2 of 4 grades"):
            self.assertIn(part, done.stdout)
        filled = (self.folder / "sheet-graded.csv").read_text(encoding="utf-8")
        self.assertEqual([row["Grade"] for row in csv.DictReader(io.StringIO(filled))], ["30", "3.00", "30", ""])
        with zipfile.ZipFile(self.folder / "back.zip") as archive:
            self.assertEqual(len(archive.namelist()), 6)
            self.assertIn("Jos\u00e9 \u00d1u_103_assignsubmission_file_/feedback.html", archive.namelist())
        self.assertEqual(sorted(entry.name for entry in (self.folder / "alike" / "submissions").iterdir()), ["Anna-Lee", "Ben-Ek", "Jose-Nu"])
        with open(self.folder / "alike" / "info.csv", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                self.assertTrue((self.folder / "alike" / row["filename"]).is_file())

    def test_what_cannot_be_written_or_read_is_told_before_grading(self):
        export = self.folder / "export" / "anna"
        export.mkdir(parents=True)
        (export / f"{LAB}.py").write_text(solution_of(LAB), encoding="utf-8")
        sheet = self.sheet(MOODLE)
        rows = [
            (["--points", "nothing=3"], "--points"), (["--roster", self.folder / "no.csv"], "No such file"), (["--gradebook", sheet, "--points", "triage=99"], "maximum"),
            (["--feedback", self.folder], "already"), (["--feedback", self.folder / "no" / "x.zip"], "folder is missing"), (["--grade-column", "Grade"], "--gradebook"),
            (["--export-for-similarity", sheet], "already"), (["--gradebook", ""], ""), (["--feedback", ""], "--feedback"),
            (["--feedback", "/proc/x.zip"], "/proc/x.zip"), (["--feedback", self.folder / "b.zip", "--export-for-similarity", self.folder / "b.zip"], "same place"),
            (["--csv", self.folder / "sheet-graded.csv", "--gradebook", sheet], "same place"),
        ]
        for arguments, part in rows:
            options = argparse.Namespace(lab=LAB, points="", roster=None, gradebook=None, grade_column=None, feedback=None, export_for_similarity=None)
            vars(options).update({name[2:].replace("-", "_"): str(value) for name, value in zip(arguments[::2], arguments[1::2])})
            with self.subTest(arguments=arguments), self.assertRaises(UsageError) as caught:
                HandBack(options, FUNCTIONS)
            self.assertIn(part, str(caught.exception))
        for arguments, part in ((["--feedback", os.fspath(self.folder)], "already"), (["--json", "-"], "--json -"), (["--csv", "/proc/x.csv"], "/proc/x.csv")):
            done = run(KIT / "verify.py", export.parent, *arguments)
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
            self.assertIn(part, done.stderr)
        done = run(KIT / "verify.py", "--make-autograder", self.folder / "grader")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(".zip", done.stderr)

    def test_who_is_waited_for_is_named(self):
        """On a terminal, cut by width; and --resume says how many it took over."""
        stream = io.StringIO()
        stream.isatty = lambda: True
        with mock.patch("sys.stderr", stream):
            progress = Progress("submissions")
            progress(3, 8)
            progress.waits_for(["Anna Lee", "\u5c71\u7530 \u592a\u90ce", "x\x1b[31m" * 20])
        last = stream.getvalue().split("\r")[-1]
        self.assertIn("3/8  waiting for Anna Lee, \u5c71\u7530 \u592a\u90ce, x\\x1b", last)
        self.assertLess(width_of(last), 80)
        told, stop = [], Stop()
        stop.tell = told.append
        slow = [(name, self.sheet(f"import time\ntime.sleep({seconds})\n", f"{name}.py")) for name, seconds in (("quick", 0), ("slow", 3))]
        with mock.patch("grader.cohort.STOPPED_LIMIT", 0.5):
            grade_class(slow, Limits(seconds=20), 2, LAB, stop=stop)
        self.assertEqual(told[-1], ["slow"])
        (self.folder / "class" / "anna").mkdir(parents=True)
        (self.folder / "class" / "bo").mkdir()
        for name in ("anna", "bo"):
            (self.folder / "class" / name / f"{LAB}.py").write_text(solution_of(LAB), encoding="utf-8")
        known = self.folder / "r.json"
        run(KIT / "verify.py", self.folder / "class", "--json", known)
        (self.folder / "class" / "bo" / f"{LAB}.py").write_text(solution_of(LAB) + "\n", encoding="utf-8")
        done = run(KIT / "verify.py", self.folder / "class", "--resume", known)
        self.assertIn("r.json: 1 of 2", done.stdout)

    def test_folders_for_other_tools_have_plain_names(self):
        for name, plain in (("Jos\u00e9 \u00d1u", "Jose-Nu"), ("\u5c71\u7530", "student"), ("../../x", "x"), ("a b\tc", "a-b-c"), ("-rf", "rf"), ("x" * 99, "x" * 60)):
            self.assertEqual(slug(name), plain)
