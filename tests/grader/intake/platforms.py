"""Names as learning platforms and browsers give them: whose a file or folder is, and what it was called when it was handed in.

The forms, as seen in exports (NAME is the student's, FILE what was handed in; a folder may stand in for a file):
    Moodle       NAME_12345_assignsubmission_file_FILE, and _onlinetext_
    Canvas       NAME_12345_67890_FILE, NAME_LATE_12345_67890_FILE; sent again: FILE with -1, -2
    Blackboard   ASSIGNMENT_USER_attempt_2026-11-30-10-15-00_FILE
    Brightspace  12345-67890 - NAME - Nov 30, 2026 1015 AM
    others       NAME_12345_FILE, NAME_FILE, FILE - NAME
"""

import collections
import re

FORMS = [re.compile(form) for form in (
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)",
    r"(?P<name>.+?)_(?P<late>LATE_)?(?P<id>\d+)_\d+_(?P<file>.+)",
    r".+_(?P<name>[^_]+)_attempt_(?P<time>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)_?(?P<file>.*)",
    r"(?P<id>\d+-\d+) - (?P<name>.+?) - (?P<time>[A-Z][a-z]{2} \d{1,2}, \d{4} \d{3,4} [AP]M)(?P<file>)",
    r"(?P<name>.+?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<file>.+)",
)]
COPY_WORDS = "copy|copie|kopie|kopia|copia|cópia|kopi|kopya|копия|副本|コピー"  # what systems add to a name that is taken
COPIES = re.compile(rf"(?:[ _-]*\(\d+\)|[ _-]+\d+|[ _-]+(?:{COPY_WORDS})(?:[ _-]*\(?\d+\)?)?)$", re.IGNORECASE)
COPY_OF = re.compile(rf"(?:{COPY_WORDS})(?: of| de| di| von|) +", re.IGNORECASE)
NUMBER = re.compile(r"(\d+)\)?$")
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

Handed = collections.namedtuple("Handed", "student id late attempt file known")
# student: the name that the platform gives; id: text, "" without one; late: bool; attempt: sorts attempts, the newest
# last; file: what it was called, "" of a folder; known: whether the name has one of the platforms' forms


def handed_in(name):
    """Return a Handed for the name of a file or folder."""
    for form in FORMS:
        match = form.fullmatch(name)
        if match:
            parts = {"id": "", "late": None, "time": "", **match.groupdict()}
            return Handed(parts["name"], parts["id"], bool(parts["late"]), (moment(parts["time"]), copy_number(parts["file"])), parts["file"], True)
    return Handed(name, "", False, ((), copy_number(name)), name, False)


def moment(text):
    """Return a time of a platform as a tuple that sorts, or () without one."""
    if text[:4].isdecimal():
        return tuple(map(int, text.split("-")))
    if not text or text[:3] not in MONTHS:
        return ()
    month, day, year, clock, half = text.replace(",", "").split()  # strptime would depend on the language that is set
    hour = int(clock[:-2]) % 12 + (12 if half == "PM" else 0)
    return int(year), MONTHS.index(month) + 1, int(day), hour, int(clock[-2:])


def copy_number(file):
    """Return the number that a platform or a browser has added to the name of a file that was sent again; 0 without one."""
    suffix = COPIES.search(stem_of(file))
    number = suffix and NUMBER.search(suffix[0])
    return int(number[1][:9]) if number else 0


def stem_of(file):
    """Return the name of a file without .py, in small letters."""
    return (file[: -len(".py")] if file.lower().endswith(".py") else file).lower()


def original_stem(file):
    """Return stem_of(file) without what was added because the name was taken: "ticket_triage (1)", "Copy of ticket_triage"."""
    stem = COPY_OF.sub("", stem_of(file), count=1) if COPY_OF.match(stem_of(file)) else stem_of(file)
    while COPIES.search(stem):
        stem = COPIES.sub("", stem)
    return stem


def is_of(file, lab):
    """Return whether a file is one of the lab by its name, whatever a platform, a browser or its author made of it."""
    stem = original_stem(file)
    return file.lower().endswith(".py") and (stem == lab or stem.endswith(f"_{lab}") or stem.startswith(f"{lab} - "))


def owner_of(file, lab):
    """Return the student's name in FILE - NAME, NAME_FILE, or the stem as it is."""
    stem, original = file[: len(stem_of(file))], original_stem(file)
    if original.startswith(f"{lab} - "):
        return stem[len(lab) + 3 :]
    return stem[: -len(lab) - 1] if original == stem.lower() and original.endswith(f"_{lab}") else stem


def natural(name):
    """Return what sorts names as people do: "Student 2" before "Student 10"."""
    return [int(part) if place % 2 else part.casefold() for place, part in enumerate(re.split(r"([0-9]+)", name))]
