"""A page and a text for each student, under the names that the platform takes them back by.

    Moodle       NAME_12345_assignsubmission_file_/feedback.html, and of an export without folders
                 NAME_12345_assignsubmission_file_feedback.html
    Canvas       NAME_12345_67890_FILE.html: it goes by the two numbers
    Brightspace  12345-67890 - NAME - Nov 30, 2026 1015 AM/feedback.html
    others       NAME/feedback.html for a folder, FILE.html for a file
"""

import re
import unicodedata
from pathlib import Path

from grader.intake.platforms import handed_in
from grader.reports import mark_text
from grader.reports.html import report as page_of
from grader.result import PASSED, WAITING, points_line, row_of, seed_lines
from grader.text import visible

NAME_LIMIT = 180  # bytes of a name, which leaves room for what a system adds
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')  # Windows takes none of them
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def feedback_files(result):
    """Return {name with slashes: bytes} of the pages and texts of all who handed in something."""
    files, taken = {}, set()
    for submission in result["submissions"]:
        if not submission["attempt"]:
            continue
        own = without_the_place(submission)
        alone = {**result, "submissions": [own], "missing": [], "left_out": [], "complete": True}
        head, tail = names_for(submission["export"] or f"{submission['name']}/")
        head = unlike(head, taken)
        files[f"{head}{tail}.html"] = page_of(alone).encode("utf-8")
        files[f"{head}{tail}.txt"] = text_of(result, own).encode("utf-8")
    return files


def without_the_place(submission):
    """Return a submission in which no path of the instructor's machine is left: only the name of its file."""
    path, name = submission["path"], handed_in(Path(submission["path"]).name).file
    marks = []
    for mark in submission["marks"]:
        failure = mark["failure"]
        if failure and failure["at"] and failure["at"].startswith(path):
            failure = {**failure, "at": name + failure["at"][len(path) :]}
        marks.append({**mark, "failure": failure})
    return {**submission, "path": name, "marks": marks}


def names_for(export):
    """Return two parts of a name: the first tells the student, the second is the same for all, or empty."""
    name, handed = safe_name(export.rstrip("/")), handed_in(export)
    if export.endswith("/"):
        return name, "/feedback"
    if "_assignsubmission_" in export and handed.file:
        return safe_name(export[: len(export) - len(handed.file)]), "feedback"
    stem = name[: name.rfind(".")] if "." in name[1:] else name
    return stem, ""


def safe_name(name):
    """Return a name that every system takes, as like the given one as can be."""
    name = FORBIDDEN.sub("_", unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8")))
    name = name.encode("utf-8")[:NAME_LIMIT].decode("utf-8", "ignore")
    kept = name.rstrip(". ")
    name = kept + "_" * (len(name) - len(kept))
    return f"_{name}" if DEVICES.match(name) or name.startswith("~") else name or "_"


def unlike(name, taken):
    """Return the name, with a number where one is taken that some system does not tell from it; note it as taken."""
    number, own = 1, name
    while unicodedata.normalize("NFKC", own).casefold() in taken:
        number += 1
        own = f"{name}-{number}"
    taken.add(unicodedata.normalize("NFKC", own).casefold())
    return own


def text_of(result, submission):
    """Return what a student reads: how much passed, then each test that did not, and why."""
    row = row_of(result, submission)
    lines = [visible(row["name"]), f"{row['passed']} of {row['total']} passed"]
    if points_line(result) and row["points"] is not None:
        lines.append(f"{row['points']} of {points_line(result)}")
    lines += [f"Note: {visible(note)}" for note in row["remarks"]] + seed_lines(result) + [""]
    for mark in row["marks"]:
        lines.append(f"{mark['verdict']:<8}  {visible(mark['title'])}")
        if mark["verdict"] not in (PASSED, WAITING) and mark["failure"] and not row["reason"]:
            lines += [f"    {line}".rstrip() for line in mark_text(mark).split("\n")] + [""]
    return "\n".join(lines) + "\n"
