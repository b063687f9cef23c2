"""Reads the table of a lab's wrong submissions, wrong/LAB.txt. A row is one mistake: a small edit of the solution.

    P5: isinstance lets true through, since bool is an int || type(priority) is not int => not isinstance(priority, int)

    P1: fences are taken off as long as there are any
    -    if text.startswith("```"):
    +    while text.startswith("```"):
             opening, _, inside = text.partition("\\n")
    @@
    -    two places of the solution are changed: a line @@ separates them
    +    each place is looked for on its own

The short form says `CLAUSE: mistake || old => new`, where old is a part of the solution. The long form has the lines of
a diff below `CLAUSE: mistake`: `-` is taken out, `+` comes in, and a line that begins with a blank stays and shows
where. What `git diff solution/LAB.py` prints may be put there as it is. The old text occurs exactly once in the
solution. A line that begins with # is a comment.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from kit import HERE, solution_of

TITLE = re.compile(r"([A-Z]\d+): (.*)")
HEADER = re.compile(r"diff --git |index [0-9a-f]+\.\.|--- a/|\+\+\+ b/|\\ No newline")  # of git diff, besides the hunks
ARROW = " => "


class TableError(ValueError):
    """A row cannot be read or made; the message names the file, the line and the row."""


@dataclass
class Row:
    """One wrong submission: place (file and line), clause, mistake (text), and edits, [(old text, new text)]."""

    place: str
    clause: str
    mistake: str
    edits: list = field(default_factory=list)

    def __str__(self):
        return f"{self.place}: {self.clause}: {self.mistake}"

    def fault(self, what):
        return TableError(f"{self}: {what}")


def table_of(lab):
    """Return the path of the lab's table."""
    return HERE / "wrong" / f"{lab}.txt"


def read_rows(path):
    """Return the rows of a table; none when the file is missing. TableError names the row at fault."""
    path = Path(path)
    if not path.exists():
        return []
    rows, bodies = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        place, title = f"wrong/{path.name}, line {number}", TITLE.fullmatch(line)
        if title:
            rows.append(Row(place, *title.groups()))
            bodies.append([])
        elif line.strip() and line[0] not in " +-@#" and not HEADER.match(line):
            expected = "`CLAUSE: mistake`, or a line that begins with + - @ # or a blank"
            raise TableError(f"{place}: expected {expected}, got {line!r}")
        elif not line.startswith("#") and not HEADER.match(line):
            if bodies:
                bodies[-1].append(line)
            elif line.strip():
                raise TableError(f"{place}: this change stands above the first `CLAUSE: mistake`")
    for row, body in zip(rows, bodies):
        row.edits = short_edit(row, body) if " || " in row.mistake else hunks(row, body)
    return rows


def short_edit(row, body):
    """Return the edit of `mistake || old => new`, and leave the mistake alone in the row."""
    row.mistake, _, edit = row.mistake.partition(" || ")
    if any(map(str.strip, body)):
        raise row.fault("a row has `|| old => new` or lines below it, not both")
    if edit.count(ARROW) != 1:
        mend = "with another => in it, use lines that begin with - and +"
        raise row.fault(f"expected `old => new`, got {edit!r}: {mend}")
    return [checked(row, *edit.split(ARROW))]


def hunks(row, body):
    """Return the edits of the lines of a diff."""
    edits, hunk = [], []
    for line in [*body, "@@"]:
        if not line.startswith("@"):
            hunk.append(line)
        elif any(map(str.strip, hunk)):
            edits.append(hunk_edit(row, trimmed(hunk)))
            hunk = []
    if not edits:
        raise row.fault("expected `|| old => new` behind it, or lines of - and + below it")
    return edits


def trimmed(lines):
    """Return the lines without those that are blank at both ends."""
    used = [number for number, line in enumerate(lines) if line.strip()]
    return lines[used[0] : used[-1] + 1]


def hunk_edit(row, hunk):
    old, new = ("".join(line[1:] + "\n" for line in hunk if line[:1] != other) for other in "+-")
    return checked(row, old, new)


def checked(row, old, new):
    if not old.strip():
        raise row.fault("it says what comes in and not where: add the line above it, with a blank in front")
    if old == new:
        raise row.fault("it changes nothing")
    return old, new


def edited(row, solution):
    """Return the solution's text with the row's edits made; TableError when one has no place, or several."""
    spans = sorted((*span_of(row, solution, old), new) for old, new in row.edits)
    text, end = "", 0
    for first, last, new in spans:
        if first < end:
            raise row.fault("two of its changes are of the same lines")
        text, end = text + solution[end:first] + new, last
    text += solution[end:]
    try:
        compile(text, "wrong.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        raise row.fault(f"what it makes is not Python: line {error.lineno}: {error.msg}") from error
    return text


def span_of(row, solution, old):
    """Return (start, end) of old in the solution; whole lines are found only as whole lines."""
    whole = "\n" if old.endswith("\n") else ""
    text, wanted = whole + solution, whole + old
    times = text.count(wanted)
    if times != 1:
        found = f"occurs {times} times in the solution, so say more of it" if times else "is not in the solution"
        raise row.fault(f"its old text {found}: {old.strip()!r}")
    start = text.index(wanted)
    return start, start + len(old)


def wrong_of(lab):
    """Return [(row, the whole submission's text)] of the lab's table. TableError also for a submission made twice."""
    solution, made = solution_of(lab), {}
    for row in read_rows(table_of(lab)):
        text = edited(row, solution)
        if text in made:
            raise row.fault(f"it makes the same submission as {made[text]}")
        made[text] = row
    return [(row, text) for text, row in made.items()]
