"""A class as lines of text: a row for each submission, the total, and the clauses that fail most."""

from grader.result import LEFT_OUT, alike, clauses_that_fail, points_line, rows_of, sandbox_lines, seed_lines
from grader.screen.screen import fitted, fold, width_of
from grader.text import visible

NAME_WIDTH = 40  # columns of a name
ALIKE = 5  # groups of submissions of one form that are told


def class_lines(result, screen):
    """Return a row a submission in the order of names, the total, and the clauses that fail most."""
    ellipsis = "\u2026" if screen.shows("\u2026") else "..."
    names = {entry["name"]: fitted(visible(entry["name"]), NAME_WIDTH, ellipsis) for entry in result["submissions"]}
    width = max(map(width_of, names.values()), default=0)
    lines, weighted = [], points_line(result)
    for entry in rows_of({**result, "missing": []}):
        groups = dict.fromkeys(mark["function"] for mark in entry["marks"])
        signs = [
            [screen.mark(mark["verdict"]) for mark in entry["marks"] if mark["function"] == group] for group in groups
        ]
        marks = " ".join(map("".join, signs))
        name = names[entry["name"]]
        edited = "changed what is provided" if entry["edits"] else ""
        late = "late" if entry["late"] else ""
        remark = ", ".join(filter(None, [entry["reason"] or entry["first_failing"], late, *entry["notes"], edited]))
        points = f"{'' if entry['points'] is None else entry['points']:>6}  " if weighted else ""
        start = f"{name}{' ' * (width - width_of(name))}  {entry['passed']:>2} of {entry['total']}  {points}"
        room = screen.width - width_of(start) - len(entry["marks"]) - len(groups) - 1
        first, *more = fold(visible(remark), max(room, 20))
        lines.append(f"{start}{marks}  {first}".rstrip())
        lines += [" " * (screen.width - room) + line for line in more]
    return lines + ["", *total_lines(result)]


def total_lines(result):
    """Return the total line, which clauses the class fails most, and what is missing."""
    entries = [entry for entry in result["submissions"] if entry["attempt"]]
    passed = [entry["passed"] for entry in entries]
    complete = sum(entry["passed"] == entry["total"] for entry in entries)
    mean = sum(passed) / len(passed) if passed else 0.0
    noun = "submission" if len(entries) == 1 else "submissions"
    total = len(result["tests"])
    lines = [f"{len(entries)} {noun}, {complete} with all {total}, mean {mean:.1f} of {total}"]
    absent = len(result["submissions"]) - len(entries)
    if absent:
        lines[0] += f"; {absent} handed in nothing"
    most = clauses_that_fail(result)[:5]
    if most:
        lines.append("Clauses that fail most: " + ", ".join(f"{clause} ({count})" for clause, count in most))
    if result["missing"]:
        lines.append(f"Not graded: {len(result['missing'])} ({some(result['missing'])})")
    if result["left_out"]:
        lines.append(f"{LEFT_OUT}: {len(result['left_out'])} ({', '.join(map(visible, result['left_out']))})")
    lines += [points_line(result)] if points_line(result) else []
    for names in alike(result)[:ALIKE]:
        lines.append(f"The same but for names, comments, blanks and order: {some(names)} (a hint, not a verdict)")
    if len(alike(result)) > ALIKE:
        lines.append(f"({len(alike(result)) - ALIKE} more such groups are in the CSV)")
    return [*lines, *map(visible, sandbox_lines(result)), *seed_lines(result)]


def some(names):
    """Return the first few of the names as a text."""
    return ", ".join(map(visible, names[:5])) + (", ..." if len(names) > 5 else "")
