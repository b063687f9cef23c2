"""A page to read.

A cell that did not pass is a link to what happened, told once at the end of the page for all to whom it happened.
report.html is the page around it.
"""

import base64
import hashlib
import json
import re
import statistics
from html import escape
from pathlib import Path

from grader.result import DID_NOT_RUN, FAILED, LEFT_OUT, NOT_RUN, PASSED, SYMBOLS, WAITING
from grader.result import alike, clauses_of, clauses_that_fail, functions_of, points_line, rows_of, told
from grader.text import visible, visible_lines

TEMPLATE = Path(__file__).with_name("report.html")
GROUPS = 20  # of submissions of one form that the page names
NOTE_LIMIT = 160  # characters of a note beside a name
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
CLASSES = {FAILED: "", WAITING: " class=w", NOT_RUN: " class=n"}


def safe(text):
    """Return text for an element or a quoted attribute of HTML."""
    return escape(visible(text))


def report(result):
    """One page that needs nothing else: a class as a matrix, one submission as a report."""
    rows = rows_of(result)
    template = TEMPLATE.read_text(encoding="utf-8")
    script = re.search(r"<script>(.*?)</script>", template, re.DOTALL)[1]
    started = safe(result["started"])
    parts = {
        "hash": base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        "lab": safe(result["lab"].replace("_", " ")),
        "seed": f", with seed {result['seed']}" if result["seed"] else "",
        "started": started, "day": started[:16].replace("T", " "), "seconds": f"{result['seconds']:,.1f}",
        "total": str(len(result["tests"])), "points": safe(f". {points_line(result)}" if points_line(result) else ""),
        "single": len(rows) == 1, "class": len(rows) != 1,
        **(single_parts(result, rows[0]) if len(rows) == 1 else class_parts(result, rows)),
    }
    template = re.sub(
        r"<!--when (\w+)-->\n(.*?)<!--end-->\n",
        lambda match: match[2] if parts[match[1]] else "",
        template,
        flags=re.DOTALL,
    )
    return re.sub(r"<!--(\w+)-->", lambda match: parts[match[1]], template)


def notices_of(result, count):
    """Return what is to know about a class of so many submissions before its table, as HTML."""
    notices = []
    if not result["complete"]:
        notices.append(
            f"The grading was interrupted. {len(result['missing']):,} of {count:,} submissions are not graded."
        )
    if result["left_out"]:
        notices.append(f"{LEFT_OUT}: {', '.join(map(safe, result['left_out']))}")
    groups = alike(result)
    for names in groups[:GROUPS]:
        notices.append(
            f"The same but for names, comments, blanks and order: {', '.join(map(safe, names))}. "
            "This is a hint, not a verdict."
        )
    if len(groups) > GROUPS:
        notices.append(f"{len(groups) - GROUPS:,} more such groups are in the CSV.")
    return notices


def class_parts(result, rows):
    catalogue = Catalogue(rows, clauses_of(result))
    ran = [row["passed"] for row in rows if not row["reason"]]
    failed = {clause for row in rows for clause in catalogue.clauses(row)}
    return {
        "title": f"{safe(result['lab'])}: {len(rows):,} submissions",
        "count": f"{len(rows):,}",
        "perfect": f"{sum(row['status'] == PASSED for row in rows):,}",
        "median": f"{statistics.median(ran):g}" if ran else "0",
        "lost": f"{sum(row['status'] == DID_NOT_RUN for row in rows):,}",
        "notes": "".join(f"<p class=notice>{notice}</p>" for notice in notices_of(result, len(rows))),
        "charts": score_chart(rows, len(result["tests"])) + clause_chart(result),
        "options": "".join(f"<option>{safe(clause)}" for clause in catalogue.order if clause in failed),
        "groups": "".join(
            f"<th scope=colgroup colspan={count}>{safe(name.replace('_', ' '))}"
            for name, count in functions_of(result).items()
        ),
        "heads": "".join(
            f'<th scope=col title="{safe(test["title"])}">{safe(test["clauses"][0])}' for test in result["tests"]
        ),
        "tests": str(len(result["tests"])),
        "columns": f"<col><col class=few><col class=few><col class=mark span={max(len(result['tests']), 1)}>",
        "rows": "\n".join(matrix_row(row, catalogue) for row in rows),
        "failures": catalogue.html(),
        "places": catalogue.places(),
    }


def matrix_row(row, catalogue):
    """Return a row of the matrix; who did not run has one cell with the reason in place of the marks."""
    points = "" if row["points"] in (None, row["passed"]) else f"{row['points']} points"
    about = " \u00b7 ".join(filter(None, [row["id"], "late" if row["late"] else "", points]))
    notes = [about, *row["notes"], *row["edits"]]
    small = "".join(
        f"<small>{safe(note if len(note) < NOTE_LIMIT else note[:NOTE_LIMIT] + ' ...')}</small>"
        for note in notes
        if note
    )
    head = f"<th scope=row>{safe(row['name'])}{small}"
    if row["reason"]:
        reason = f"{row['status']}: {row['reason']}"
        return f"<tr class=lost>{head}<td colspan={2 + len(row['marks'])}>{safe(reason)}"
    cells = []
    for mark, failure in zip(row["marks"], catalogue.numbers[id(row)]):
        sign = SYMBOLS[mark["verdict"]]
        kind = CLASSES.get(mark["verdict"], "")
        linked = f"<a{kind} href=#{failure}>{sign}</a>" if failure else f"<span{kind}>{sign}</span>" if kind else sign
        cells.append(f"<td>{linked}")
    return f"<tr>{head}<td>{row['passed']}<td>{safe(row['first_failing'] or '')}{''.join(cells)}"


class Catalogue:
    """Every failure of a class, told once: what was asked, and below it the different things that came."""

    def __init__(self, rows, order):
        self.asked = {}  # (clause, sentence, what was asked) -> {(label, what came): number}
        self.names = {}  # number -> the names of the submissions to which it came
        self.numbers = {}  # id of a row -> for each test the number of what came, or None
        self.rows, self.order = rows, order
        for row in rows:
            self.numbers[id(row)] = [self.number(row, mark) for mark in row["marks"]]

    def number(self, row, mark):
        """Return the number of what came, and note that it came to this row; None where nothing failed."""
        if mark["verdict"] == PASSED or mark["failure"] is None or row["reason"]:
            return None
        asked, came = self.parts(mark)
        number = self.asked.setdefault(asked, {}).setdefault(came, len(self.names) + 1)
        self.names.setdefault(number, {})[row["name"]] = True
        return number

    @staticmethod
    def parts(mark):
        failure = mark["failure"]
        # an address in memory would make each submission's failure one of its own
        pairs = {label: ADDRESS.sub("", text) for label, text in told(failure, mark["verdict"]) if label != "at"}
        label = "failed" if "failed" in pairs else "got"
        came = label, pairs.pop(label, "")
        return (failure["clause"], failure["sentence"], tuple(pairs.items())), came

    @staticmethod
    def clauses(row):
        return [
            mark["failure"]["clause"]
            for mark in row["marks"]
            if mark["verdict"] != PASSED and mark["failure"] and not row["reason"]
        ]

    def html(self):
        ordered = sorted(self.asked.items(), key=lambda item: self.order.get(item[0][0], -1))
        return "\n".join(self.section(*item) for item in ordered)

    def section(self, asked, known):
        clause, sentence, pairs = asked
        listed = "".join(
            f"<li id={number}{'' if label == 'got' else f' data-label={label}'}><code>{safe(text)}</code> "
            f"<small>{self.who(number)}</small>"
            for (label, text), number in sorted(known.items(), key=lambda item: -len(self.names[item[1]]))
        )
        return f"<section><h3><b>{safe(clause)}</b> {safe(sentence)}</h3>{described(pairs)}<ul>{listed}</ul></section>"

    def who(self, number, most=3):
        names = list(self.names[number])
        return ", ".join(map(safe, names)) if len(names) <= most else f"{len(names):,} submissions"

    def places(self):
        """Return as JSON the submissions' own lines: texts, and for each row the test and its text in turn."""
        texts, rows = {}, []
        for row in self.rows:
            found = []
            for number, mark in enumerate(row["marks"]):
                at = mark["verdict"] != PASSED and mark["failure"] and mark["failure"]["at"]
                if at:
                    short = visible(at[len(row["path"]) + 2 :] if at.startswith(f"{row['path']}, ") else at)
                    found += [number, texts.setdefault(short, len(texts))]
            rows.append(found)
        coded = json.dumps({"texts": list(texts), "rows": rows}, separators=(",", ":"))
        for char in "<>&":  # in ASCII already, so U+2028 is an escape; now no </script> and no <!-- either
            coded = coded.replace(char, f"\\u{ord(char):04x}")
        return coded


def described(pairs):
    """Return labelled texts as a description list."""
    return "<dl>" + "".join(f"<dt>{label}<dd><code>{safe(text)}</code>" for label, text in pairs) + "</dl>"


def figure(title, spoken, drawing, width, height):
    return (
        f"<figure><figcaption>{title}</figcaption>"
        f"<svg viewBox='0 0 {width} {height}' role=img aria-label=\"{title}. {spoken}\">"
        f"{drawing}</svg></figure>"
    )


def score_chart(rows, total):
    """Return the number of submissions for each score, as columns, and before them those that did not run."""
    scores = [row["passed"] for row in rows if not row["reason"]]
    lost = sum(row["status"] == DID_NOT_RUN for row in rows)
    counts = [("did not run", lost), *((str(score), scores.count(score)) for score in range(total + 1))]
    step, top, height = 480 / (total + 3), max(max(count for _, count in counts), 1), 150
    drawing = f"<path class=axis d='M0 {height + 24.5}H480'/>"
    for place, (label, count) in enumerate(counts):
        wide = 2 * step if label == counts[0][0] else step
        left, tall = step * (place + 1) if place else 0, height * count / top
        if count:
            kind = "" if place else " class=lost"
            drawing += f"<rect{kind} x={left + 2:.1f} y={height + 24 - tall:.1f} "
            drawing += f"width={wide - 4:.1f} height={tall:.1f} rx=2 />"
            drawing += f"<text x={left + wide / 2:.1f} y={height + 18 - tall:.1f}>{count}</text>"
        drawing += f"<text class=label x={left + wide / 2:.1f} y={height + 42}>{label if place else 'not run'}</text>"
    spoken = "; ".join(
        f"{count} {'with ' * bool(place)}{label}" for place, (label, count) in enumerate(counts) if count
    )
    return figure("Submissions by tests passed", spoken, drawing, 480, height + 48)


def clause_chart(result, most=8):
    """Return the clauses that the class fails most, as bars."""
    worst = clauses_that_fail(result)[:most]
    drawing = "" if worst else "<text class=label x=240 y=90>No clause fails.</text>"
    for place, (clause, count) in enumerate(worst):
        wide, y = 390 * count / worst[0][1], 14 + place * 23
        drawing += (
            f"<text class=name x=40 y={y + 12}>{safe(clause)}</text><rect x=48 y={y} width={wide:.1f} height=16 rx=2 />"
        )
        drawing += f"<text class=end x={54 + wide:.1f} y={y + 12}>{count}</text>"
    spoken = "; ".join(f"{safe(clause)}: {count}" for clause, count in worst) or "No clause fails"
    return figure("Clauses that most submissions fail", spoken, drawing, 480, 198)


def single_parts(result, row):
    groups = []
    for name in functions_of(result):
        marks = [mark for mark in row["marks"] if mark["function"] == name]
        passed = sum(mark["verdict"] == PASSED for mark in marks)
        items = "".join(single_mark(row, mark) for mark in marks)
        groups.append(
            f"<section class=group><h2>{safe(name)} <small>{passed} of {len(marks)}</small></h2>"
            f"<ul class=marks>{items}</ul></section>"
        )
    return {
        "title": f"{safe(row['name'])}: {row['passed']} of {row['total']} passed",
        "name": safe(row["name"]),
        "passed": str(row["passed"]),
        "percent": f"{100 * row['passed'] / max(row['total'], 1):.1f}",
        "notes": "".join(f"<p class=notice>{safe(note)}</p>" for note in row["remarks"]),
        "functions": "".join(groups),
        "places": "",
    }


def single_mark(row, mark):
    verdict = mark["verdict"]
    line = f"<i class={verdict[0]} aria-hidden=true>{SYMBOLS[verdict]}</i>"
    line += f"<span>{safe(mark['title'])}</span> <small>{verdict}</small>"
    failure = mark["failure"]
    if verdict == PASSED or failure is None or (row["reason"] and failure["reason"] == row["reason"]):
        return f"<li><p>{line}</p>"
    printed = "\n".join(visible_lines(mark["printed"]))
    printed = f"<h3>printed</h3><pre>{escape(printed)}</pre>" if printed else ""
    clause = f"<p><b>{safe(failure['clause'])}</b> {safe(failure['sentence'])}</p>"
    return f"<li><p>{line}</p><div class=failure>{clause}{described(told(failure, verdict))}{printed}</div>"
