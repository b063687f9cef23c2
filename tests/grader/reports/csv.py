"""One row per submission, for a gradebook."""

import csv
import io
import re

from grader.result import NOT_GRADED, PASSED, functions_of, rows_of
from grader.text import visible

SIGNS = "=+@\uff1d\uff0b\uff0d\uff20-"  # with one of them a spreadsheet takes a cell for a formula
FORMULA = re.compile(f"(^|[,;|\t])([ \u3000\"']*)(?=[{SIGNS}])")  # at the start, or where another separator splits the cell


def cell(value):
    """Return a cell of a spreadsheet; what it would take for a formula gets an apostrophe before its sign.

    A spreadsheet of a country with decimal commas splits a line at semicolons, so a cell can begin in the middle.
    """
    return FORMULA.sub(r"\1'\2", visible(value)) if isinstance(value, str) else value


def report(result):
    """A gradebook: one row a submission, a column for each group of tests."""
    functions = list(functions_of(result))
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(map(cell, ["name", "passed", "total", "percent", *functions, "first failing clause", "status", "reason", "id", "late", "notes"]))
    for row in rows_of(result):
        counts = [sum(mark["function"] == name and mark["verdict"] == PASSED for mark in row["marks"]) for name in functions]
        numbers = [row["passed"], row["total"], round(100 * row["passed"] / max(row["total"], 1), 1), *counts]
        if row["status"] == NOT_GRADED:
            numbers = [""] * len(numbers)  # a 0 would be a grade
        notes = "; ".join(row["notes"] + row["edits"])
        table.writerow(map(cell, [row["name"], *numbers, row["first_failing"] or "", row["status"], row["reason"] or "", row["id"], "late" if row["late"] else "", notes]))
    return text.getvalue()
