"""A class laid out for tools that look for similar programs: MOSS, JPlag and Dolos.

    submissions/NAME/LAB.py   a folder for each submission, as JPlag and MOSS (-d) want it
    base/LAB.py               what everybody was given, which they leave out
    info.csv                  the names and times, for Dolos
    README.txt                the three commands
"""

import csv
import io
import re
import unicodedata

from grader.handback.feedback import unlike
from grader.intake.handout import originals
from grader.intake.sources import Unreadable, read_source
from grader.reports.csv import cell

SLUG_LIMIT = 60  # characters of the name of a folder
HEADS = ("filename", "full_name", "id", "label")
COMMANDS = """Each folder in submissions/ holds one submission; info.csv says whose it is. The names of the folders hold
the students' names: MOSS and the web form of Dolos send them to another machine. A tool finds what is alike, not who
has copied.

JPlag   java -jar jplag.jar -l python3 -bc base submissions
MOSS    ./moss -l python -d -b base/{lab}.py submissions/*/*.py
Dolos   dolos run -l python -i base/{lab}.py info.csv
"""


def similarity_files(submissions, lab):
    """Return ({name with slashes: bytes} of the folder, names of the submissions that cannot be read)."""
    files, rows, taken, unread = {}, [], {"base"}, []
    for each in submissions:
        try:
            source = read_source(each.place)
        except Unreadable:
            unread.append(each.name)
            continue
        name = f"submissions/{unlike(slug(each.name), taken)}/{lab}.py"
        files[name] = source.encode("utf-8")
        rows.append([name, each.name, each.id, "late" if each.late else ""])
    base = originals()["starter"].get(f"{lab}.py", {"text": ""})["text"]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([HEADS, *(list(map(cell, row)) for row in rows)])
    more = {f"base/{lab}.py": base, "info.csv": text.getvalue(), "README.txt": COMMANDS.format(lab=lab)}
    return {**files, **{name: content.encode("utf-8") for name, content in more.items()}}, unread


def slug(name):
    """Return a name in letters, digits and hyphens, which every tool and shell takes; "student" if nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:SLUG_LIMIT] or "student"
