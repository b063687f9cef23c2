"""A class as platforms export it: each student has a row, whatever was handed in, under the name that the platform gives."""

import csv
import errno
import os
import shutil
import tempfile
import unittest
import warnings
import zipfile
from pathlib import Path
from unittest import mock

from kit import KIT, run

from grader.intake import archives
from grader.intake.platforms import handed_in, is_of, natural, users_of
from grader.intake.targets import UsageError, find_targets
from grader.screen.screen import fitted, width_of

LAB = "ticket_triage"


class Names(unittest.TestCase):
    def test_what_a_platform_s_name_says(self):
        """The student as the platform writes the name, the id, whether it was late, and what the file was called."""
        rows = [
            ("anna.lee_123_ticket_triage.py", "anna.lee", "123", False, "ticket_triage.py"),
            ("bo.ek@uni_3_ticket_triage.py", "bo.ek@uni", "3", False, "ticket_triage.py"),
            ("Dr. Cy Fox_77_ticket_triage.py", "Dr. Cy Fox", "77", False, "ticket_triage.py"),
            ("leeanna_12345_67890_ticket_triage.py", "leeanna", "12345", False, "ticket_triage.py"),
            ("leeanna_LATE_12345_67890_ticket_triage-2.py", "leeanna", "12345", True, "ticket_triage-2.py"),
            ("Ann_Maria Lee_12345_assignsubmission_file_ticket_triage.py", "Ann_Maria Lee", "12345", False, "ticket_triage.py"),
            ("Łucja Żak_12345_assignsubmission_file_", "Łucja Żak", "12345", False, ""),
            ("Ben 2_9_assignsubmission_onlinetext_", "Ben 2", "9", False, ""),
            ("HW 1_alee_attempt_2026-11-30-10-15-00_ticket_triage.py", "alee", "", False, "ticket_triage.py"),
            ("12345-67890 - Ivy Lo - Nov 30, 2026 1015 AM", "Ivy Lo", "12345-67890", False, ""),
            ("12345-67890 - Ivy-Jo - Lo - 30 November, 2026 1015", "Ivy-Jo - Lo", "12345-67890", False, ""),
            ("anon_x1Y2z_678_ticket_triage.py", "anon_x1Y2z", "x1Y2z", False, "ticket_triage.py"),
            ("LATE_anon_x1Y2z_678_ticket_triage.py", "anon_x1Y2z", "x1Y2z", True, "ticket_triage.py"),
            ("o_brien_12_34_ticket_triage.py", "o_brien", "12", False, "ticket_triage.py"),
            ("mu\u0308ller_12_34_ticket_triage.py", "mu\u0308ller", "12", False, "ticket_triage.py"),
            ("\u05e9\u05dc\u05d5\u05dd_12_34_TICKET_TRIAGE.PY", "\u05e9\u05dc\u05d5\u05dd", "12", False, "TICKET_TRIAGE.PY"),
            ("Lee, Anna_77_ticket_triage - Kopie.py", "Lee, Anna", "77", False, "ticket_triage - Kopie.py"),
            ("Group 1-Anna Lee_12_assignsubmission_file_", "Group 1-Anna Lee", "12", False, ""),
            ("leeanna_12_text.html", "leeanna", "12", False, "text.html"), ("An\nna _1_assignsubmission_file_", "An\nna", "1", False, ""),
        ]
        for name, student, number, late, file in rows:
            with self.subTest(name=name):
                handed = handed_in(name)
                self.assertEqual((handed.student, handed.id, handed.late, handed.file, handed.known), (student, number, late, file, True))
        for name in ("anna", "anna lee", "ticket_triage.py", "2026", "_", "notes.txt", "Lee, Anna (2)"):
            self.assertEqual((handed_in(name).known, handed_in(name).student), (False, name))

    def test_the_newest_attempt_sorts_last(self):
        for older, newer in (
            ("a_1_2_ticket_triage.py", "a_1_3_ticket_triage-1.py"), ("a_1_98_ticket_triage.py", "a_1_100_ticket_triage.py"),
            ("1-2 - A B - 30 November, 2026 1015", "1-2 - A B - 1 December, 2026 915"),
            ("a_1_2_ticket_triage-9.py", "a_1_3_ticket_triage-10.py"),
            ("x_a_attempt_2026-09-30-10-15-00_t.py", "x_a_attempt_2026-11-30-10-15-00_t.py"),
            ("1-2 - A B - Nov 30, 2026 1015 AM", "1-2 - A B - Nov 30, 2026 115 PM"), ("1-2 - A B - Nov 30, 2026 1215 AM", "1-2 - A B - Nov 30, 2026 915 AM"),
            ("1-2 - A B - Nov 30, 2026 1015 PM", "1-2 - A B - Dec 1, 2026 915 AM"), ("a_1_t.py", "a_1_t (1).py"),
        ):
            self.assertLess(handed_in(older).attempt, handed_in(newer).attempt, (older, newer))

    def test_a_file_of_the_lab_is_known_by_what_others_made_of_its_name(self):
        for name in ("ticket_triage.py", "TICKET_TRIAGE.PY", "ticket_triage(1).py", "ticket_triage (1).py", "ticket_triage 2.py", "ticket_triage-1.py",
                     "ticket_triage copy.py", "ticket_triage copy 2.py", "ticket_triage - Copy.py", "ticket_triage - Copy (2).py", "ticket_triage - Kopie.py",
                     "ticket_triage — копия.py".replace("—", "-"), "Copy of ticket_triage.py", "Kopie von ticket_triage.py", "ticket_triage - Anna Lee.py", "anna_ticket_triage.py",
                     "Anna Lee - ticket_triage.py", "anna-ticket_triage.py", "anna ticket_triage.py", "a.lee.ticket_triage.py"):
            self.assertTrue(is_of(name, LAB), name)
        for name in ("ticket_triage.backup.py", "ticket_triage.py.txt", "ticket_triage", "test_triage.py", "ticket_triage_old.py", "triage.py", "ticket_triage.pyc", ""):
            self.assertFalse(is_of(name, LAB), name)
        for name in ("_" * 255, "1_" * 120, "a_1_" * 60 + ".py", " (1)" * 60 + ".py", " - " * 80, "_attempt_" * 28):  # as long as names can be
            is_of(handed_in(name).file, LAB)

    def test_users_of_blackboard_may_hold_underscores(self):
        """What all begin with is the assignment; two users are never taken for one."""
        time = "attempt_2026-11-30-10-15-00_ticket_triage.py"
        rows = [
            (["Lab 1_alee", "Lab 1_b_ek", "Lab 1_c_ek"], ["alee", "b_ek", "c_ek"]), (["Lab_1_alee"], ["alee"]), (["Lab_1_alee", "Lab_1_alee"], ["alee", "alee"]),
            (["One_a_ek", "Two_b_ek"], ["One_a_ek", "Two_b_ek"]), (["Lab_1_x", "Lab_1_xy"], ["x", "xy"]),
        ]
        for heads, users in rows:
            names = [f"{head}_{time}" for head in heads]
            self.assertEqual([users_of(names)[name] for name in names], users)
        self.assertEqual(users_of(["anna_1_ticket_triage.py", "notes.txt"]), {})

    def test_people_sort_numbers_by_size(self):
        self.assertEqual(sorted(["Student 10", "student 2", "Bo", "7", "42", "Student 1"], key=natural), ["7", "42", "Bo", "Student 1", "student 2", "Student 10"])

    def test_a_name_is_cut_by_width(self):
        for text, cut in (("Anna Lee", "Anna Lee"), ("Anna Maria Lee", "Anna Mari…"), ("Anna Mar Leee", "Anna Mar…"), ("山田太郎山田太郎", "山田太郎…")):
            self.assertEqual(fitted(text, 10), cut)
            self.assertLessEqual(width_of(fitted(text, 10)), 10)
        self.assertEqual(fitted("Anna Maria Lee", 10, "..."), "Anna Ma...")


class Exports(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-export-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def hand_in(self, *names):
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir() if name.endswith("/") else path.write_text("x = 1\n", encoding="utf-8")

    def found(self, *names):
        self.hand_in(*names)
        submissions, left_out, _ = find_targets([str(self.folder)], LAB)
        told = {each.name: each.place.relative_to(self.folder).as_posix() if isinstance(each.place, Path) else each.place for each in submissions}
        return told, left_out, {each.name: each.notes for each in submissions if each.notes}

    def test_each_student_of_a_flat_export_has_a_row(self):
        """Whatever the file is; what is nobody's is named, and what a system left is not."""
        rows, left_out, notes = self.found(
            "anna.lee_1_ticket_triage.py", "bo_2_ticket_triage.zip", "cy_3_essay.pdf", "di_4_work.ipynb", "ed_5_ticket_triage.py.txt", "fay_6_solution.py",
            "_gus_7_ticket_triage.py", "hal_8_a.py", "hal_8_b.py", "ivy_9_ticket_triage.py", "ivy_9_ticket_triage.backup.py", "jo_10_ticket_triage.py",
            "jo_10_ticket_triage-1.py", "notes.txt", ".DS_Store", "._anna.lee_1_ticket_triage.py", "desktop.ini")
        self.assertEqual(rows, {
            "anna.lee": "anna.lee_1_ticket_triage.py", "bo": "it holds only ticket_triage.zip: it cannot be unpacked: File is not a zip file", "cy": "it holds only essay.pdf, and no ticket_triage.py",
            "di": "it holds only work.ipynb: export it as a .py file", "ed": "it holds only ticket_triage.py.txt: name it .py", "fay": "fay_6_solution.py",
            "_gus": "_gus_7_ticket_triage.py", "hal": "2 files are there (a.py, b.py): one is expected", "ivy": "ivy_9_ticket_triage.py", "jo": "jo_10_ticket_triage-1.py",
        })
        self.assertEqual(left_out, ["notes.txt"])
        self.assertEqual(notes, {"fay": ("its file is called solution.py, and not ticket_triage.py",), "jo": ("also handed in, and not graded: jo_10_ticket_triage.py",),
                                 "ivy": ("also handed in, and not graded: ivy_9_ticket_triage.backup.py",)})

    def test_each_folder_of_an_export_has_a_row(self):
        """Of a student's attempts the newest counts; a folder with one Python file of another name is graded, and that is said."""
        rows, left_out, notes = self.found(
            "Anna Lee_1_assignsubmission_file_/ticket_triage.py", "Bo.Ek_2_assignsubmission_file_/ticket_triage(1).py", "Cy_3_assignsubmission_file_/a/main.py",
            "Di_4_assignsubmission_file_/ticket_triage.zip", "Ed_5_assignsubmission_file_/", "Fay_6_assignsubmission_file_/a.py", "Fay_6_assignsubmission_file_/b.py",
            "7-8 - Ivy Lo - Nov 30, 2026 1015 AM/ticket_triage.py", "7-8 - Ivy Lo - Nov 30, 2026 115 PM/ticket_triage.py", ".ben/ticket_triage.py", "_c/x.txt",
            ".git/config", "__MACOSX/ticket_triage.py", "Jo_9_assignsubmission_file_/starter/ticket_triage.py", "Jo_9_assignsubmission_file_/tests/x.py")
        ivy = "7-8 - Ivy Lo - Nov 30, 2026 "
        self.assertEqual(rows, {
            "Anna Lee": "Anna Lee_1_assignsubmission_file_/ticket_triage.py", "Bo.Ek": "Bo.Ek_2_assignsubmission_file_/ticket_triage(1).py",
            "Cy": "Cy_3_assignsubmission_file_/a/main.py", "Di": "it holds only ticket_triage.zip: it cannot be unpacked: File is not a zip file", "Ed": "no ticket_triage.py is there: the folder is empty",
            "Fay": "2 files are there (a.py, b.py): one is expected", "Ivy Lo": f"{ivy}115 PM/ticket_triage.py", ".ben": ".ben/ticket_triage.py",
            "Jo": "Jo_9_assignsubmission_file_/starter/ticket_triage.py",
        })
        self.assertEqual(left_out, ["_c"])
        self.assertEqual(notes, {"Cy": ("its file is called main.py, and not ticket_triage.py",), "Ivy Lo": (f"also handed in, and not graded: {ivy}1015 AM",)})

    def test_students_of_one_name_are_told_apart(self):
        names = list(self.found("Anna_1_ticket_triage.py", "Anna_2_ticket_triage.py", "anna_3_ticket_triage.py")[0])
        self.assertEqual(sorted(names), ["Anna (1)", "Anna (2)", "anna"])

    def test_a_class_is_never_taken_for_one_who_gets_0(self):
        """A folder one level too high, or a report of one: the message names what to name."""
        self.hand_in("export/anna/ticket_triage.py", "export/bo/ticket_triage.py", "readme.txt")
        for arguments, expected in (([self.folder], "this looks like a folder of classes: .*export"), ([self.folder / "export", "--gradescope", "g.json"], "this looks like a class of 2")):
            done = run(KIT / "verify.py", *arguments, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
            self.assertRegex(done.stderr, expected)
        self.assertEqual(sorted(os.listdir(self.folder)), ["export", "readme.txt"])
        self.assertRaises(UsageError, find_targets, [str(self.folder)], LAB)
        (self.folder / "cy").mkdir()
        shutil.copy(self.folder / "export" / "bo" / "ticket_triage.py", self.folder / "cy")
        self.assertEqual(len(find_targets([str(self.folder)], LAB)[0]), 2)  # export is a student's folder then, with two files in it

    def test_the_table_and_the_reports_say_it(self):
        """Late, the newest attempt, another name of the file; in the CSV the id."""
        self.hand_in("bo_LATE_2_99_solution.py", "anna_1_98_ticket_triage.py", "anna_1_99_ticket_triage-1.py")
        done = run(KIT / "verify.py", self.folder, "--csv", self.folder.with_suffix(".csv"), "--html", self.folder.with_suffix(".html"), "--seed", "0")
        self.addCleanup(self.folder.with_suffix(".csv").unlink)
        self.addCleanup(self.folder.with_suffix(".html").unlink)
        table, page = " ".join(done.stdout.split()), self.folder.with_suffix(".html").read_text(encoding="utf-8")
        for text in ("late, its file is called solution.py", "also handed in, and not graded: anna_1_98_ticket_triage.py"):
            self.assertIn(text, table)
            self.assertIn(text.rpartition("late, ")[2], page)
        with open(self.folder.with_suffix(".csv"), encoding="utf-8-sig", newline="") as file:
            rows = {row["name"]: (row["id"], row["late"], row["notes"].split("; ")[0]) for row in csv.DictReader(file)}
        self.assertEqual(rows, {
            "anna": ("1", "", "also handed in, and not graded: anna_1_98_ticket_triage.py"),
            "bo": ("2", "late", "its file is called solution.py, and not ticket_triage.py"),
        })


class Zips(unittest.TestCase):
    """A zip of a class, of one student, inside a class; and zips that would harm."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kit-zip-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def zipped(self, name, files, **options):
        """Write a zip of {name: text, or bytes}; return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for entry, content in files.items():
                archive.writestr(entry, content, **options)
        return path

    def test_a_class_is_graded_from_its_zip(self):
        """As from the folder, also when that was packed as a whole; with what a student has zipped once more."""
        with open(self.zipped("inner.zip", {"hw/ticket_triage.py": "x = 1"}), "rb") as file:
            inner = file.read()
        files = {"Anna Lee_1_assignsubmission_file_/ticket_triage.py": "x = 1", "Bo_2_assignsubmission_file_/work.zip": inner,
                 "Cy_3_assignsubmission_file_/essay.pdf": b"%PDF" * 10_000, "notes.txt": "x"}
        for top in ("", "export/"):
            path = self.zipped("class.zip", {top + name: content for name, content in files.items()})
            found, left_out, is_class = find_targets([str(path)], LAB)
            self.assertEqual([(each.name, isinstance(each.place, Path)) for each in found], [("Anna Lee", True), ("Bo", True), ("Cy", False)])
            self.assertEqual((left_out, is_class, found[1].notes), (["notes.txt"], True, ("unpacked from work.zip",)))
            self.assertEqual(found[2].place, "it holds only essay.pdf, and no ticket_triage.py")
        done = run(KIT / "verify.py", path, "--seed", "0", "--timeout", "30")
        self.assertEqual((done.returncode, done.stdout.count(" 0 of 15")), (1, 3), done.stderr)

    def test_a_class_in_which_nobody_has_handed_in_the_file_itself_has_its_rows(self):
        """Each a zip, or each a PDF: they are students by the platform's names; a folder of other files is no class."""
        with open(self.zipped("inner.zip", {"ticket_triage.py": "x = 1"}), "rb") as file:
            inner = file.read()
        for names in (["leeanna_1_2_work.zip", "ekbo_LATE_3_4_work.zip"], ["Anna_1_assignsubmission_file_a.zip", "Bo_2_assignsubmission_file_b.ZIP"]):
            found, left_out, _ = find_targets([str(self.zipped("class.zip", dict.fromkeys(names, inner)))], LAB)
            self.assertEqual(([isinstance(each.place, Path) for each in found], left_out), ([True, True], []))
        found, _, _ = find_targets([str(self.zipped("class.zip", {"leeanna_1_2_a.pdf": "x", "ekbo_3_4_b.pdf": "x"}))], LAB)
        self.assertEqual([each.place for each in found], [f"it holds only {name}.pdf, and no ticket_triage.py" for name in "ba"])
        with self.assertRaises(UsageError):
            find_targets([str(self.zipped("class.zip", {"photo_1.jpg": "x", "2026_report.pdf": "x", "a_1_b.txt": "x"}))], LAB)

    def test_names_in_a_zip_are_read_as_they_were_meant(self):
        """UTF-8 that says so, UTF-8 that does not, and the code page of DOS."""
        for told, flag, name in ((b"J\xc3\xb6rg", 0, "J\u00f6rg"), (b"J\x94rg", 0, "J\u00f6rg"), (b"Anna", 0, "Anna"), ("\u5c71\u7530".encode("utf-8"), 0, "\u5c71\u7530")):
            entry = zipfile.ZipInfo("x")
            entry.filename, entry.flag_bits = told.decode("cp437"), flag
            self.assertEqual(archives.name_of(entry), name)
        path = self.zipped("class.zip", {"\u0141ucja \u017bak_1_assignsubmission_file_/ticket_triage.py": "x = 1", "J\u00f6rg_2_assignsubmission_file_/ticket_triage.py": "x = 1"})
        self.assertEqual([each.name for each in find_targets([str(path)], LAB)[0]], ["J\u00f6rg", "\u0141ucja \u017bak"])

    def test_one_submission_is_graded_from_its_zip(self):
        done = run(KIT / "verify.py", self.zipped("mine.zip", {"hw/ticket_triage.py": (KIT / "solution" / "ticket_triage.py").read_bytes()}), "-q", "--timeout", "30")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def changed(self, files, *places, method=None):
        """Return the bytes of a zip of {name: content}; places: (signature, offset behind it, byte) to write over."""
        path = self.folder / "made.zip"
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if method is None else method) as archive:
            warnings.simplefilter("ignore")  # a name twice
            for name, content in files:
                archive.writestr(name, content)
        data = bytearray(path.read_bytes())
        for signature, offset, value in places:
            data[data.index(signature) + offset] = value
        return bytes(data)

    def test_what_a_student_s_zip_holds_is_graded_or_the_row_says_why_not(self):
        """Names that tools write in another way are taken; a password, another compression, damage and a name twice are told."""
        name, one = f"{LAB}.py", [(f"{LAB}.py", "x = 1")]
        password, method = [(b"PK\3\4", 6, 1), (b"PK\1\2", 8, 1)], [(b"PK\3\4", 8, 14), (b"PK\1\2", 10, 14)]
        rows = [
            *((self.changed([(told, "x = 1")]), None, ()) for told in (f"./{name}", f"/{name}", f"/home/a/{name}", f"hw//{name}", f"hw\\{name}", f".\\{name}")),
            (self.changed(one, *password), "has a password", ()),
            (self.changed(one, *method), "compressed in an unusual way", ()),  # bytes that LZMA takes for damage
            (self.changed(one, method=zipfile.ZIP_LZMA), "compressed in an unusual way", ()),
            (self.changed([(name, bytes(64 << 20))], method=zipfile.ZIP_BZIP2), "compressed in an unusual way", ()),
            (self.changed(one, (b"PK\1\2", 16, 77)), "Bad CRC-32", ()),
            (self.changed([(f"../{name}", "x = 1")]), rf"not unpacked: ../{name} \(its name leads elsewhere", ()),
            (self.changed([("a", ""), (f"a/{name}", "x = 1")]), rf"not unpacked: a/{name} \(", ()),
            (self.changed([("n" * 201, ""), *one]), None, ("its name is too long",)),
            (self.changed([(name, "x = 2"), (name, "x = 1")]), None, ("there twice, and the last one counts",)),
            (self.changed([]), "the folder is empty", ()), (b"", "it is empty, or has more than", ()), (bytes(archives.ZIP_LIMIT + 1), "it is empty, or has more than", ()),
        ]
        for place in ("Anna_1_assignsubmission_file_/w.zip", "anna_1_2_w.zip"):
            for number, (data, reason, notes) in enumerate(rows):
                with self.subTest(place=place, number=number, reason=reason):
                    found, left_out, _ = find_targets([str(self.zipped("class.zip", {place: data, "Bo_3_4_ticket_triage.py": "x = 1"}))], LAB)
                    anna, bo = found
                    self.assertEqual(((anna.name.casefold(), bo.name), left_out, isinstance(bo.place, Path)), (("anna", "Bo"), [], True))
                    if reason:
                        self.assertRegex(anna.place, reason)
                    else:
                        self.assertEqual(anna.place.read_text(encoding="utf-8"), "x = 1")
                    for note in notes:
                        self.assertIn(note, " ".join(anna.notes))

    def test_what_cannot_be_unpacked_of_a_class_has_its_row(self):
        """Under the student's name, in a folder or not; and one zip alone is refused in a line that says why."""
        for names in (("Anna_1_assignsubmission_file_/ticket_triage.py", "Bo_2_assignsubmission_file_/ticket_triage.py"), ("anna_1_2_ticket_triage.py", "bo_3_4_ticket_triage.py")):
            path = self.folder / "class.zip"
            path.write_bytes(self.changed([(name, "x = 1") for name in names], (b"PK\1\2", 16, 77)))
            found, left_out, _ = find_targets([str(path)], LAB)
            self.assertEqual(([isinstance(each.place, Path) for each in found], left_out), ([False, True], []))
            self.assertRegex(found[0].place, "ticket_triage.py: it cannot be unpacked: Bad CRC-32")
        path.write_bytes(self.changed([("hw/ticket_triage.py", "x = 1")], (b"PK\3\4", 6, 1), (b"PK\1\2", 8, 1)))
        self.assertRaisesRegex(UsageError, "ticket_triage.py: it cannot be unpacked: it has a password", find_targets, [str(path)], LAB)
        path.write_bytes(self.changed([("../ticket_triage.py", "x = 1")]))
        self.assertRaisesRegex(UsageError, "Not unpacked: ../ticket_triage.py", find_targets, [str(path)], LAB)

    def test_a_full_disk_is_not_told_as_the_zip_s_fault(self):
        path = self.zipped("class.zip", {"anna_1_2_ticket_triage.py": "x = 1", "bo_3_4_ticket_triage.py": "x = 1"})
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        for what in ("write_entry", "content_of"):
            with self.subTest(what=what), mock.patch.object(archives, what, side_effect=full):
                self.assertRaisesRegex(UsageError, f"class.zip: {full.strerror}$", find_targets, [str(path)], LAB)

    def test_no_entry_leaves_the_folder_and_none_is_too_large(self):
        """Names that lead elsewhere, links, devices, bombs, more than there is room for: left out, or the zip is refused in one line."""
        link = zipfile.ZipInfo("ticket_triage.py")
        link.external_attr = 0o120777 << 16
        outside = sorted(self.folder.parent.glob("evil*"))
        path = self.zipped("bad.zip", {"../evil.py": "x", "a/../../evil.py": "x", "..\\evil.py": "x", "c:evil.py": "x", "a/" * 13 + "x.py": "x", "n" * 250 + ".py": "x", link: "/etc/passwd"})
        folder, left_out = archives.unpack(path)
        self.assertEqual((list(folder.rglob("*")), len(left_out)), ([], 7))
        self.assertEqual(sorted(self.folder.parent.glob("evil*")), outside)
        folder, _ = archives.unpack(self.zipped("bomb.zip", {"ticket_triage.py": b"x" * (20 << 20), "more.bin": b"x" * (20 << 20)}))
        self.assertEqual({file.name: file.stat().st_size for file in folder.iterdir()}, {"ticket_triage.py": archives.FILE_LIMIT, "more.bin": 0})
        with mock.patch.object(archives, "FILES_LIMIT", 3), self.assertRaisesRegex(archives.ArchiveError, "more than 3 entries"):
            archives.unpack(self.zipped("many.zip", {f"{number}.txt": "" for number in range(4)}))
        for files in ({"a.py": "x" * 600, "b.py": "x" * 600}, {"a": "", "a/a.py": "x" * 600, "a/b.py": "x" * 600}):
            with mock.patch.object(archives, "ALL_LIMIT", 1000), self.assertRaisesRegex(archives.ArchiveError, "more than 1,000 bytes"):
                archives.unpack(self.zipped("large.zip", files))  # what cannot be written has been read all the same
        (self.folder / "no.zip").write_bytes(b"PK but no zip")
        done = run(KIT / "verify.py", self.folder / "no.zip")
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))


if __name__ == "__main__":
    unittest.main()
