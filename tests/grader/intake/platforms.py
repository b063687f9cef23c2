"""Names as platforms and browsers give them: whose a file or folder is, and what it was called when it was handed in.

The forms, as seen in exports (NAME is the student's, FILE what was handed in; a folder may stand in for a file):
    Moodle       NAME_12345_assignsubmission_file_FILE, and _onlinetext_
    Canvas       NAME_12345_67890_FILE, NAME_LATE_12345_67890_FILE; sent again: FILE with -1, -2;
                 without names: anon_x1Y2z_67890_FILE
    Blackboard   ASSIGNMENT_USER_attempt_2026-11-30-10-15-00_FILE
    Brightspace  12345-67890 - NAME - Nov 30, 2026 1015 AM, or 30 November, 2026 1015
    others       NAME_12345_FILE, NAME_FILE, FILE - NAME, NAME - FILE
"""

import collections
import os
import re

FORMS = [re.compile(form, re.DOTALL) for form in (
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)",
    r"(?P<late>LATE_)?(?P<name>anon_(?P<id>\w{1,20}?))_(?P<upload>\d+)_(?P<file>.+)",
    r"(?P<name>.+?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<upload>\d+)_(?P<file>.+)",
    r"(?P<task>.+_)(?P<name>[^_]+)_attempt_(?P<time>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)_?(?P<file>.*)",
    r"(?P<id>\d+-\d+) - (?P<name>.+?) - "
    r"(?P<time>(?:[A-Z][a-z]{2,8} \d{1,2}|\d{1,2} [A-Z][a-z]{2,8}),? \d{4} \d{3,4}(?: [AP]M)?)(?P<file>)",
    r"(?P<name>.+?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<file>.+)",
)]
BLACKBOARD = next(form for form in FORMS if "_attempt_" in form.pattern)
COPY_WORDS = "copy|copie|kopie|kopia|copia|cópia|kopi|kopya|копия|副本|コピー"  # what systems add to a name that is taken
COPIES = re.compile(rf"(?:[ _-]*\(\d+\)|[ _-]+\d+|[ _-]+(?:{COPY_WORDS})(?:[ _-]*\(?\d+\)?)?)$", re.IGNORECASE)
COPY_OF = re.compile(rf"(?:{COPY_WORDS})(?: of| de| di| von|) +", re.IGNORECASE)
NUMBER = re.compile(r"(\d+)\)?$")
MARKS = "_- ."  # between a student's name and the file's
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

Handed = collections.namedtuple("Handed", "student id late attempt file known")
# student: the name that the platform gives; id: text, "" without one; late: bool; attempt: sorts attempts, the newest
# last; file: what it was called, "" of a folder; known: whether the name has one of the platforms' forms


def handed_in(name):
    """Return a Handed for the name of a file or folder."""
    for form in FORMS:
        match = form.fullmatch(name)
        if match:
            parts = {"id": "", "late": None, "time": "", "upload": "0", **match.groupdict()}
            attempt = moment(parts["time"]), int(parts["upload"][:18]), copy_number(parts["file"])
            name = parts["name"].strip() or parts["name"]
            return Handed(name, parts["id"], bool(parts["late"]), attempt, parts["file"], True)
    return Handed(name, "", False, ((), 0, copy_number(name)), name, False)


def is_exported(name):
    """Return whether a name is one that a platform makes, and no person by chance: all forms but the last."""
    return any(form.fullmatch(name) for form in FORMS[:-1])


def users_of(names):
    """Return {name: user} of names of Blackboard.

    Assignment and user may both hold underscores: what all names begin with is the assignment.
    """
    heads = {name: match["task"] + match["name"] for name in names for match in [BLACKBOARD.fullmatch(name)] if match}
    common = os.path.commonprefix(list(heads.values())).rpartition("_")[0]
    if len(set(heads.values())) > 1:
        return {name: head[len(common) + 1 :] if common else head for name, head in heads.items()}
    return {name: handed_in(name).student for name in heads}


def moment(text):
    """Return a time of a platform as a tuple that sorts, or () without one."""
    if text[:4].isdecimal():
        return tuple(map(int, text.split("-")))
    words = text.replace(",", "").split()  # strptime would depend on the language that is set
    month = next((word for word in words if word[:3] in MONTHS), None)
    if month is None:
        return ()
    day, year, clock = (word for word in words if word.isdecimal())
    hour = int(clock[:-2]) if words[-1] == clock else int(clock[:-2]) % 12 + (12 if words[-1] == "PM" else 0)
    return int(year), MONTHS.index(month[:3]) + 1, int(day), hour, int(clock[-2:])


def copy_number(file):
    """Return the number that was added to the name of a file because it was sent again; 0 without one."""
    suffix = COPIES.search(stem_of(file))
    number = suffix and NUMBER.search(suffix[0])
    return int(number[1][:9]) if number else 0


def stem_of(file):
    """Return the name of a file without .py, in small letters."""
    return (file[: -len(".py")] if file.lower().endswith(".py") else file).lower()


def original_stem(file):
    """Return stem_of(file) without what was added because the name was taken: " (1)", "Copy of "."""
    stem = COPY_OF.sub("", stem_of(file), count=1) if COPY_OF.match(stem_of(file)) else stem_of(file)
    while COPIES.search(stem):
        stem = COPIES.sub("", stem)
    return stem


def is_of(file, lab):
    """Return whether a file is one of the lab by its name, whatever a platform, a browser or its author made of it."""
    stem = original_stem(file)
    ends = tuple(f"{mark}{lab}" for mark in MARKS)
    return file.lower().endswith(".py") and (stem == lab or stem.endswith(ends) or stem.startswith(f"{lab} - "))


def owner_of(file, lab):
    """Return the student's name in FILE - NAME, NAME_FILE, NAME - FILE, or the stem as it is."""
    stem, original = file[: len(stem_of(file))], original_stem(file)
    if original.startswith(f"{lab} - "):
        return stem[len(lab) + 3 :]
    if original == stem.lower() and original.endswith(lab):
        return stem[: -len(lab)].rstrip(MARKS) or stem
    return stem


def natural(name):
    """Return what sorts names as people do: "Student 2" before "Student 10"."""
    return [int(part) if place % 2 else part.casefold() for place, part in enumerate(re.split(r"([0-9]+)", name))]
