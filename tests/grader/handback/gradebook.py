"""A sheet of grades that Moodle, Canvas or another platform exported, to go back with the grades of a result in it.

Who did not run, and who handed in nothing, keeps the cell as it came:
a 0 would be a grade, and the instructor's to give.
"""

import re

from grader.intake.roster import matched, people_of
from grader.intake.sheet import Sheet
from grader.intake.targets import UsageError
from grader.points import plain
from grader.text import visible

GRADES = {"grade", "bewertung", "note", "calificación", "valutazione", "nota", "score", "points", "total score"}
MOST = {
    "maximum grade",
    "max points",
    "bestwertung",
    "note maximale",
    "calificación máxima",
    "valutazione massima",
    "nota máxima",
}
LOCKED = "grade can be changed"  # Moodle leaves a grade as it is where this says No
KEPT = ("EX", "N/A")  # Canvas: excused, and not assigned
ASSIGNMENT = re.compile(r".*\(\d+\)|.* Points Grade\b.*")  # of Canvas, with its number; of Brightspace
SHOWN = 5  # names in a message
SUFFIX = "-graded"


class Gradebook:
    """A sheet, its column of grades, and its people."""

    def __init__(self, path, column, lab):
        """Read it; UsageError says what is wrong. column: the head of the column of grades, or None to find it."""
        self.sheet = Sheet(path)
        self.people = people_of(self.sheet)
        self.column = self.named(column) if column is not None else self.found(lab)
        self.target = self.sheet.path.with_name(f"{self.sheet.path.stem}{SUFFIX}{self.sheet.path.suffix}")

    def named(self, head):
        """Return the column of this head, or of a part of it that no other has."""
        part = head.strip().casefold()
        heads = [each.casefold() for each in self.sheet.heads]
        columns = self.sheet.columns({part}) or [place for place, each in enumerate(heads) if part and part in each]
        if len(columns) != 1:
            wrong = f"no column is called {head!r}" if not columns else f"{len(columns)} columns are called {head!r}"
            raise UsageError(
                f"--grade-column: {wrong}; {self.sheet.path} has {self.sheet.some_heads(range(len(heads)))}"
            )
        return columns[0]

    def found(self, lab):
        """Return the only column of grades, or the one that is named after the lab."""
        sheet, name = self.sheet, lab.replace("_", "")
        assignments = [place for place, head in enumerate(sheet.heads) if ASSIGNMENT.fullmatch(head)]
        columns = sheet.columns(GRADES) or [place for place in assignments if not self.is_read_only(place)]
        own = [place for place in columns if name in re.sub(r"[\W_]", "", sheet.heads[place]).casefold()]
        if len(columns) == 1 or len(own) == 1:
            return (own if len(own) == 1 else columns)[0]
        what = "no column of grades is known"
        if columns:
            what = f"{len(columns)} columns could hold the grade: {sheet.some_heads(columns)}"
        raise UsageError(f"{sheet.path}: {what}. Name it with --grade-column HEAD")

    def is_read_only(self, column):
        return any("read only" in self.sheet.value(row, column) for row in range(min(3, len(self.sheet.rows))))

    def most(self):
        """Return the most points that the sheet allows as a number, or None where it does not say."""
        columns = self.sheet.columns(MOST)
        texts = [self.sheet.value(person.row, columns[0]) for person in self.people] if columns else []
        for row in range(min(3, len(self.sheet.rows))):
            if self.sheet.value(row, 0).casefold() == "points possible":
                texts = [self.sheet.value(row, self.column)]
        numbers = {float(text.replace(",", ".")) for text in texts if re.fullmatch(r"\d{1,7}(?:[.,]\d{1,6})?", text)}
        return plain(min(numbers)) if numbers else None

    def refuse_too_many(self, total):
        """UsageError where Moodle would drop grades: it takes none above the sheet's maximum."""
        most = self.most()
        if most is not None and total > most and self.sheet.columns(MOST):
            wrong = f"its maximum is {most}, and all tests together are worth {total}"
            raise UsageError(f"{self.sheet.path}: {wrong}: give --points that sum to {most}")

    def can_fill(self, row):
        cells, locked = self.sheet.rows[row], self.sheet.columns({LOCKED})
        free = not locked or self.sheet.value(row, locked[0]).casefold() != "no"
        return free and self.column < len(cells) and cells[self.column].value.strip() not in KEPT

    def fill(self, rows, total):
        """Return (bytes of the sheet with the grades of a result's rows, lines that say what was filled)."""
        there = [row for row in rows if row["attempt"]]
        found, several = matched([Handed(row) for row in there], self.people)
        texts, empty, kept = {}, [], []
        for place, person in found.items():
            points = there[place]["points"]
            if points is None:
                empty.append(person.name)
            elif not self.can_fill(person.row):
                kept.append(person.name)
            else:
                texts[person.row, self.column] = str(points)
        with_one = {person.row for person in found.values()}
        unknown = [place for place in range(len(there)) if place not in found and place not in several]
        return self.sheet.filled(texts), [
            *self.told(texts, total),
            *lists(
                {
                    "In the sheet, and handed in nothing": [
                        person.name for person in self.people if person.row not in with_one
                    ],
                    "Handed in, and not in the sheet": [there[place]["name"] for place in unknown],
                    "Fit more than one row, or share one": [there[place]["name"] for place in several],
                    "Did not run: the cell is as it was": empty,
                    "Excused or locked: the cell is as it was": kept,
                }
            ),
        ]

    def told(self, texts, total):
        most = self.most()
        head = visible(self.sheet.heads[self.column])
        lines = [f"Wrote {self.target}: {len(texts)} of {len(self.people)} grades, in the column {head!r}"]
        if most is not None and most != total:
            lines.append(f"The sheet's maximum is {most}, and all tests together are worth {total} here (--points)")
        return lines


class Handed:
    """A row of a result as a Submission for matched()."""

    def __init__(self, row):
        self.name, self.id = row["name"], row["id"]


def lists(named):
    """Return a line for each list of names that is not empty."""
    lines = []
    for what, names in named.items():
        if names:
            shown = ", ".join(map(visible, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
            lines.append(f"{what}: {len(names)} ({shown})")
    return lines
