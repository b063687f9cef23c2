"""One row per submission, for a spreadsheet."""

import csv
import io
import re

from grader.points import plain
from grader.result import PASSED, alike_with, functions_of, rows_of
from grader.text import visible

SIGNS = "=+@\uff1d\uff0b\uff0d\uff20-"  # with one of them a spreadsheet takes a cell for a formula
# at the start, or where another separator splits the cell
FORMULA = re.compile(f"(^|[,;|\t])([ \u3000\"']*)(?=[{SIGNS}])")


def cell(value):
    """Return a cell of a spreadsheet; what it would take for a formula gets an apostrophe before its sign.

    A spreadsheet of a country with decimal commas splits a line at semicolons, so a cell can begin in the middle.
    """
    return FORMULA.sub(r"\1'\2", visible(value)) if isinstance(value, str) else value


HEADS = ("name", "passed", "total", "percent")  # then a column per function
MORE = (
    "first failing clause",
    "status",
    "reason",
    "id",
    "late",
    "notes",
    "changed what is provided",
    "points",
    "max points",
    "file",
    "attempt",
    "same form as",
)


def sheet(heads, rows):
    """Return a CSV as Excel and others read it: with a mark that says UTF-8, each text guarded."""
    text = io.StringIO(newline="")
    text.write("\ufeff")
    csv.writer(text).writerows(list(map(cell, row)) for row in [heads, *rows])
    return text.getvalue()


def report(result):
    """One row per submission, a column for each group of tests. Who did not run has empty cells, not zeros."""
    functions, others = list(functions_of(result)), alike_with(result)
    rows = [cells_of(result, row, functions, others.get(row["name"], [])) for row in rows_of(result)]
    return sheet([*HEADS, *functions, *MORE], rows)


def cells_of(result, row, functions, others):
    """Return the cells of a submission, in the order of the heads; others: the names of those of the same form."""
    ran, most = row["points"] is not None, plain(sum(result["points"].values()))
    right = [mark["function"] for mark in row["marks"] if mark["verdict"] == PASSED]
    counts = list(map(right.count, functions))
    percent = round(100 * row["points"] / max(most, 1e-9), 1) if ran else ""
    passed, *counts = [row["passed"], *counts] if ran else [""] * (1 + len(functions))
    first = (row["first_failing"] or "") if ran else ""
    return [
        row["name"], passed, row["total"], percent, *counts, first, row["status"], row["reason"] or "",
        row["id"], "late" if row["late"] else "", "; ".join(row["notes"]), "; ".join(row["edits"]),
        row["points"] if ran else "", most, row["export"], row["attempt"] or "", ", ".join(others),
    ]
