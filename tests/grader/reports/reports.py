"""What becomes of a result: JSON, CSV, JUnit, Gradescope, GitHub Classroom, and a page to read (report.html).

WRITERS leads from a format to its function result -> text, or pieces of one; write() puts that into a file, whole or not at all;
read_result() reads the JSON form back. Names, paths and failures hold what submissions said: untrusted text.
Each writer passes it through visible() and then through the escaping of its own format. See kit/test_reports.py.
"""

import base64
import csv
import hashlib
import io
import json
import os
import re
import statistics
import xml.etree.ElementTree as ET
from html import escape
from pathlib import Path

from grader.screen.screen import LABELS, SYMBOLS, visible
from grader.result import FAILED, NOT_RUN, PASSED, WAITING

SCHEMA = 1  # of a result
VERDICTS = (PASSED, FAILED, WAITING, NOT_RUN)
DID_NOT_RUN, NOT_GRADED, LEFT_OUT = "did not run", "not graded", "Left out, since they are no submissions"
TEMPLATE = Path(__file__).with_name("report.html")
CLASSROOM_LIMIT = 120_000  # the reporter reads an environment variable, and Linux allows 128 KiB for one

def visible_lines(text):
    """Return the lines of a text, each of them visible."""
    return [visible(line) for line in text.splitlines()]


# ---- one row a submission


def entry(result, submission):
    """Return a submission with a status and one mark for each test of the result, in their order."""
    given = {mark["name"]: mark for mark in submission["marks"]}
    blank = {"verdict": NOT_RUN, "seconds": 0.0, "failure": None, "printed": ""}
    marks = [{**blank, **test, **given.get(test["name"], {})} for test in result["tests"]]
    passed = sum(mark["verdict"] == PASSED for mark in marks)
    failed_status = DID_NOT_RUN if submission["reason"] else FAILED
    status = PASSED if marks and passed == len(marks) else failed_status
    row = {"edits": [], "status": status, **submission, "marks": marks, "passed": passed, "total": len(marks)}
    return {**row, "notes": [f"{row['status']}: {row['reason']}"] * bool(row["reason"]) + row["edits"]}


def entries(result):
    """Return an entry for each submission; those that were not graded come last, and say so."""
    absent = {"path": "", "seconds": 0.0, "reason": "the grading was interrupted before it", "first_failing": None, "marks": []}
    missing = [{**absent, "name": name, "status": NOT_GRADED} for name in result["missing"]]
    return [entry(result, submission) for submission in [*result["submissions"], *missing]]


def clauses_that_fail(result):
    """Return [(clause, number of submissions that fail it)], the largest number first."""
    order, counts = clauses_of(result, result["submissions"]), {}
    for submission in result["submissions"]:
        failed = {mark["failure"]["clause"] for mark in submission["marks"] if mark["verdict"] == FAILED and not submission["reason"]}
        for clause in failed:
            counts[clause] = counts.get(clause, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], order[pair[0]]))


def only_entry(result, kind):
    """Return the one entry of a result; ValueError when there are more, or none."""
    found = entries(result)
    if len(found) != 1:
        raise ValueError(f"{kind}: this report is of one submission, and there are {len(found)}")
    return found[0]


def functions_of(result):
    return list(dict.fromkeys(test["function"] for test in result["tests"]))


def clauses_of(result, rows):
    """Return {clause: its place in the order of the contract}; a clause that only a failure names comes last."""
    clauses = [clause for test in result["tests"] for clause in test["clauses"]]
    clauses += [mark["failure"]["clause"] for row in rows for mark in row["marks"] if mark["failure"]]
    return {clause: place for place, clause in enumerate(dict.fromkeys(clauses))}


def told(mark):
    """Return (label, text) pairs: the call and the replies it plays, expected, got, why, at; of an unwritten function no why."""
    failure, waiting = mark["failure"], mark["verdict"] == WAITING
    replies = [(f"reply {number}", reply) for number, reply in enumerate(failure.get("replies", ()), start=1)]
    call, *rest = [(label, failure[field]) for label, field in LABELS.items() if not (waiting and field == "because")]
    return [(label, text) for label, text in [call, *replies, *rest] if text]


def failure_lines(mark):
    """Return the failure of a mark as lines: clause and sentence, then what is told."""
    if mark["failure"] is None:
        return [NOT_RUN]
    heading = f"{visible(mark['failure']['clause'])}  {visible(mark['failure']['sentence'])}"
    return [heading, *(f"{label:<10}{visible(text)}" for label, text in told(mark))]


def mark_text(mark):
    """Return what a student reads of a test that did not pass: the failure, then what was printed."""
    printed = visible_lines(mark["printed"])
    return "\n".join(failure_lines(mark) + (["", "printed:", *printed] if printed else []))


# ---- the formats


def to_json(result):
    """Yield the result itself, one submission a line; read_result reads it back."""
    head = {key: value for key, value in result.items() if key != "submissions"}
    yield json.dumps(head)[:-1] + ', "submissions": ['
    for number, submission in enumerate(result["submissions"]):
        yield (",\n" if number else "\n") + json.dumps(submission)
    yield "\n]}\n"


def cell(value):
    """Return a cell of a spreadsheet; a text that it would take for a formula begins with an apostrophe."""
    if not isinstance(value, str):
        return value
    formula = value[:1] in ("\t", "\r", "\n") or value.lstrip()[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20")
    return f"'{visible(value)}" if formula else visible(value)


def to_csv(result):
    """A gradebook: one row a submission, a column for each group of tests."""
    functions = functions_of(result)
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(map(cell, ["name", "passed", "total", "percent", *functions, "first failing clause", "status", "reason"]))
    for row in entries(result):
        counts = [sum(mark["function"] == name and mark["verdict"] == PASSED for mark in row["marks"]) for name in functions]
        numbers = [row["passed"], row["total"], round(100 * row["passed"] / max(row["total"], 1), 1), *counts]
        if row["status"] == NOT_GRADED:
            numbers = [""] * len(numbers)  # a 0 would be a grade
        table.writerow(map(cell, [row["name"], *numbers, row["first_failing"] or "", row["status"], row["reason"] or ""]))
    return text.getvalue()


def to_junit(result):
    """A testsuite for each submission. Whatever did not pass is a failure: a skipped test would look harmless."""
    rows = entries(result)
    root = ET.Element("testsuites", name=visible(result["lab"]), **counts_of(rows), time=format(result["seconds"], ".3f"))
    for row in rows:
        suite = ET.SubElement(root, "testsuite", name=visible(row["name"]), **counts_of([row]))
        suite.attrib.update(time=format(sum(mark["seconds"] for mark in row["marks"]), ".3f"), timestamp=visible(result["started"])[:19])
        for mark in row["marks"]:
            suite.append(testcase(row, mark))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def counts_of(rows):
    tests, passed = sum(row["total"] for row in rows), sum(row["passed"] for row in rows)
    return {"tests": str(tests), "failures": str(tests - passed), "errors": "0", "skipped": "0"}


def testcase(row, mark):
    # GitLab knows a test by classname and name together, so the submission is part of the first
    place = {"classname": f"{visible(row['name'])}.{mark['function']}", "name": visible(mark["title"])}
    case = ET.Element("testcase", place, time=format(mark["seconds"], ".3f"))
    if row["path"]:
        case.set("file", visible(row["path"]))
    if mark["verdict"] != PASSED:
        lines = failure_lines(mark) if mark["failure"] else [visible(note) for note in row["notes"]] or [NOT_RUN]
        failure = ET.SubElement(case, "failure", message=lines[0], type=mark["verdict"])
        failure.text = "\n".join(lines)
    if mark["printed"]:
        ET.SubElement(case, "system-out").text = "\n".join(visible_lines(mark["printed"]))
    return case


def to_gradescope(result):
    """results.json of Gradescope: a point a test, no score at the top, which would override their sum."""
    row = only_entry(result, "gradescope")
    functions = functions_of(result)
    seen = dict.fromkeys(functions, 0)
    tests = []
    for mark in row["marks"]:
        seen[mark["function"]] += 1
        passed = mark["verdict"] == PASSED
        tests.append({
            "name": visible(mark["title"]), "number": f"{functions.index(mark['function']) + 1}.{seen[mark['function']]}",
            "score": int(passed), "max_score": 1, "status": "passed" if passed else "failed", "visibility": "visible",
            "output": "" if passed else mark_text(mark), "output_format": "text",
        })
    output = "\n".join([f"{row['passed']} of {row['total']} passed", *map(visible, row["notes"])])
    return json.dumps({"output": output, "output_format": "text", "execution_time": row["seconds"], "tests": tests}, indent=1) + "\n"


def to_classroom(result):
    """The value of a step output that GitHub Classroom's reporter reads: base64 of JSON, a point a test."""
    row = only_entry(result, "classroom")
    for limit in (4000, 1000, 250, 60):
        tests = [classroom_test(mark, limit) for mark in row["marks"]]
        status = "pass" if row["status"] == PASSED else "fail" if row["status"] == FAILED else "error"
        report = {"version": 1, "status": status, "max_score": row["total"], "tests": tests}
        encoded = base64.b64encode(json.dumps(report, ensure_ascii=False).encode("utf-8")).decode("ascii")
        if len(encoded) <= CLASSROOM_LIMIT:
            break
    return encoded


def classroom_test(mark, limit):
    """Return one test; its message cannot give orders to the runner, which obeys ##[...] anywhere and :: at the start
    of a line that the reporter prints. An order could be a forged grade."""
    passed = mark["verdict"] == PASSED
    text = "" if passed else mark_text({**mark, "printed": mark["printed"][-limit:]})
    lines = (line if not line.lstrip().startswith("::") else f"| {line}" for line in text.split("\n"))
    message = "\n".join(lines).replace("##[", "# #[")
    if len(message) > limit:
        message = f"{message[:limit]} ..."
    return {
        "name": visible(mark["title"]), "status": "pass" if passed else "fail", "score": int(passed), "message": message,
        "test_code": "", "filename": "", "line_no": 0, "duration": round(mark["seconds"] * 1000),
    }


# ---- the page
# A cell that did not pass is a link to what happened, told once at the end of the page for all whom it happened to.

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
CLASSES = {FAILED: "", WAITING: " class=w", NOT_RUN: " class=n"}


def safe(text):
    """Return text for an element or a quoted attribute of HTML."""
    return escape(visible(text))


def to_html(result):
    """One page that needs nothing else: a class as a matrix, one submission as a report."""
    rows = entries(result)
    template = TEMPLATE.read_text(encoding="utf-8")
    script = re.search(r"<script>(.*?)</script>", template, re.DOTALL)[1]
    started = safe(result["started"])
    parts = {
        "hash": base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        "lab": safe(result["lab"].replace("_", " ")),
        "started": started, "day": started[:16].replace("T", " "), "seconds": f"{result['seconds']:,.1f}",
        "total": str(len(result["tests"])),
        "single": len(rows) == 1, "class": len(rows) != 1,
        **(single_parts(result, rows[0]) if len(rows) == 1 else class_parts(result, rows)),
    }
    template = re.sub(r"<!--when (\w+)-->\n(.*?)<!--end-->\n", lambda match: match[2] if parts[match[1]] else "", template, flags=re.DOTALL)
    return re.sub(r"<!--(\w+)-->", lambda match: parts[match[1]], template)


def class_parts(result, rows):
    catalogue = Catalogue(rows, clauses_of(result, rows))
    graded = [row["passed"] for row in rows if row["status"] != NOT_GRADED]
    stopped = f"The grading was interrupted. {len(rows) - len(graded):,} of {len(rows):,} submissions are not graded."
    notices = [stopped] if not result["complete"] else []
    if result.get("left_out"):
        notices.append(f"{LEFT_OUT}: {', '.join(map(safe, result['left_out']))}")
    functions = {name: sum(test["function"] == name for test in result["tests"]) for name in functions_of(result)}
    failed = {clause for row in rows for clause in catalogue.clauses(row)}
    return {
        "title": f"{safe(result['lab'])}: {len(rows):,} submissions",
        "count": f"{len(rows):,}", "perfect": f"{sum(row['status'] == PASSED for row in rows):,}",
        "median": f"{statistics.median(graded):g}" if graded else "0",
        "lost": f"{sum(row['status'] == DID_NOT_RUN for row in rows):,}", "notes": "".join(f"<p class=notice>{notice}</p>" for notice in notices),
        "charts": score_chart(rows, len(result["tests"])) + clause_chart(result),
        "options": "".join(f"<option>{safe(clause)}" for clause in catalogue.order if clause in failed),
        "groups": "".join(f"<th scope=colgroup colspan={count}>{safe(name).replace('_', '_<wbr>')}" for name, count in functions.items()),
        "heads": "".join(f'<th scope=col title="{safe(test["title"])}">{"<br>".join(map(safe, test["clauses"]))}' for test in result["tests"]),
        "rows": "\n".join(matrix_row(row, catalogue) for row in rows),
        "failures": catalogue.html(), "places": catalogue.places(),
    }


def matrix_row(row, catalogue):
    notes = "".join(f"<small>{safe(note if len(note) < 160 else note[:160] + ' ...')}</small>" for note in row["notes"])
    cells = []
    for mark, failure in zip(row["marks"], catalogue.numbers[id(row)]):
        sign = SYMBOLS[mark["verdict"]]
        kind = CLASSES.get(mark["verdict"], "")
        linked = f"<a{kind} href=#{failure}>{sign}</a>" if failure else f"<span{kind}>{sign}</span>" if kind else sign
        cells.append(f"<td>{linked}")
    score = "" if row["status"] == NOT_GRADED else row["passed"]
    return f"<tr><th scope=row>{safe(row['name'])}{notes}<td>{score}<td>{safe(row['first_failing'] or '')}{''.join(cells)}"


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
        if mark["verdict"] == PASSED or mark["failure"] is None:
            return None
        asked, came = self.parts(row, mark)
        number = self.asked.setdefault(asked, {}).setdefault(came, len(self.names) + 1)
        self.names.setdefault(number, {})[row["name"]] = True
        return number

    @staticmethod
    def parts(row, mark):
        failure = mark["failure"]
        if row["reason"] and failure["reason"] == row["reason"]:  # one entry for all its tests
            return ("", "The submission did not run", ()), ("failed", failure["reason"])
        # an address in memory would make each submission's failure one of its own
        pairs = {label: ADDRESS.sub("", text) for label, text in told(mark) if label != "at"}
        label = "failed" if "failed" in pairs else "got"
        came = label, pairs.pop(label, "")
        return (failure["clause"], failure["sentence"], tuple(pairs.items())), came

    @staticmethod
    def clauses(row):
        return [mark["failure"]["clause"] for mark in row["marks"] if mark["verdict"] != PASSED and mark["failure"]]

    def html(self):
        ordered = sorted(self.asked.items(), key=lambda item: self.order.get(item[0][0], -1))
        return "\n".join(self.section(*item) for item in ordered)

    def section(self, asked, known):
        clause, sentence, pairs = asked
        listed = "".join(
            f"<li id={number}{'' if label == 'got' else f' data-label={label}'}><code>{safe(text)}</code> <small>{self.who(number)}</small>"
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


def figure(title, told, drawing, width, height):
    return (
        f"<figure><figcaption>{title}</figcaption><svg viewBox='0 0 {width} {height}' role=img aria-label=\"{title}. {told}\">"
        f"{drawing}</svg></figure>"
    )


def score_chart(rows, total):
    """Return the number of submissions for each score, as columns."""
    scores = [row["passed"] for row in rows if row["status"] != NOT_GRADED]
    counts = [scores.count(score) for score in range(total + 1)]
    step, top, height = 480 / (total + 1), max(max(counts), 1), 150
    drawing = f"<path class=axis d='M0 {height + 24.5}H480'/>"
    for score, count in enumerate(counts):
        tall, middle = height * count / top, step * (score + 0.5)
        if count:
            drawing += f"<rect x={step * score + 2:.1f} y={height + 24 - tall:.1f} width={step - 4:.1f} height={tall:.1f} rx=2 />"
            drawing += f"<text x={middle:.1f} y={height + 18 - tall:.1f}>{count}</text>"
        drawing += f"<text class=label x={middle:.1f} y={height + 42}>{score}</text>"
    told = "; ".join(f"{count} with {score}" for score, count in enumerate(counts) if count)
    return figure("Submissions by tests passed", told, drawing, 480, height + 48)


def clause_chart(result, most=8):
    """Return the clauses that the class fails most, as bars."""
    worst = clauses_that_fail(result)[:most]
    drawing = "" if worst else "<text class=label x=240 y=90>No clause fails.</text>"
    for place, (clause, count) in enumerate(worst):
        wide, y = 390 * count / worst[0][1], 14 + place * 23
        drawing += f"<text class=name x=40 y={y + 12}>{safe(clause)}</text><rect x=48 y={y} width={wide:.1f} height=16 rx=2 />"
        drawing += f"<text class=end x={54 + wide:.1f} y={y + 12}>{count}</text>"
    told = "; ".join(f"{safe(clause)}: {count}" for clause, count in worst) or "No clause fails"
    return figure("Clauses that most submissions fail", told, drawing, 480, 198)


def single_parts(result, row):
    groups = []
    for name in functions_of(result):
        marks = [mark for mark in row["marks"] if mark["function"] == name]
        passed = sum(mark["verdict"] == PASSED for mark in marks)
        items = "".join(single_mark(row, mark) for mark in marks)
        groups.append(f"<section class=group><h2>{safe(name)} <small>{passed} of {len(marks)}</small></h2><ul class=marks>{items}</ul></section>")
    return {
        "title": f"{safe(row['name'])}: {row['passed']} of {row['total']} passed",
        "name": safe(row["name"]), "passed": str(row["passed"]), "percent": f"{100 * row['passed'] / max(row['total'], 1):.1f}",
        "notes": "".join(f"<p class=notice>{safe(note)}</p>" for note in row["notes"]),
        "functions": "".join(groups), "places": "",
    }


def single_mark(row, mark):
    verdict = mark["verdict"]
    line = f"<i class={verdict[0]} aria-hidden=true>{SYMBOLS[verdict]}</i><span>{safe(mark['title'])}</span> <small>{verdict}</small>"
    failure = mark["failure"]
    if verdict == PASSED or failure is None or (row["reason"] and failure["reason"] == row["reason"]):
        return f"<li><p>{line}</p>"
    printed = "\n".join(visible_lines(mark["printed"]))
    printed = f"<h3>printed</h3><pre>{escape(printed)}</pre>" if printed else ""
    return f"<li><p>{line}</p><div class=failure><p><b>{safe(failure['clause'])}</b> {safe(failure['sentence'])}</p>{described(told(mark))}{printed}</div>"


WRITERS = {"json": to_json, "csv": to_csv, "junit": to_junit, "gradescope": to_gradescope, "classroom": to_classroom, "html": to_html}


# ---- files


def write(path, content):
    """Write a file (bytes, str or pieces of str) whole or not at all; newlines stay. A pipe is written to directly."""
    pieces = [content] if isinstance(content, (bytes, str)) else content
    data = (piece if isinstance(piece, bytes) else piece.encode("utf-8") for piece in pieces)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            stream.writelines(data)
        return
    path = Path(os.path.realpath(path))
    part = path.with_name(f".report-{os.getpid()}.part")
    try:
        with open(part, "wb") as stream:
            stream.writelines(data)
        os.replace(part, path)
    finally:
        if part.exists():
            part.unlink()


NUMBER, TEXT, OPTIONAL = (int, float), (str,), (str, type(None))
FIELDS = {
    "a result": {"lab": TEXT, "complete": (bool,), "missing": (list,), "seconds": NUMBER, "started": TEXT, "tests": (list,), "submissions": (list,)},
    "a test": {"name": TEXT, "function": TEXT, "title": TEXT, "clauses": (list,)},
    "a submission": {"name": TEXT, "path": TEXT, "passed": (int,), "total": (int,), "seconds": NUMBER, "reason": OPTIONAL,
                     "first_failing": OPTIONAL, "marks": (list,), "digest": TEXT, "edits": (list,)},
    "a mark": {"name": TEXT, "verdict": TEXT, "seconds": NUMBER, "failure": (dict, type(None)), "printed": TEXT},
    "a failure": {"clause": TEXT, "sentence": TEXT, **dict.fromkeys(("call", "expected", "got", "reason", "because", "at"), OPTIONAL), "replies": (list,)},
}


def refuse_constant(text):
    raise ValueError(f"{text} is no JSON")


def read_result(path):
    """Return the result in a JSON file; ValueError says in one line why it is none."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=refuse_constant)
        check_result(result)
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(visible(f"{path}: this is no result of verify.py --json: {error}")) from error
    return result


def check_fields(kind, record):
    """Refuse a record unless it has the fields of its kind, each of its exact type: a bool is no number here."""
    if type(record) is not dict:
        raise ValueError(f"{kind}: expected an object, got {str(record)[:60]}")
    for field, types in FIELDS[kind].items():
        if field not in record:
            raise ValueError(f"{field} is missing in {kind}")
        if type(record[field]) not in types:
            raise ValueError(f"{field} in {kind}: expected {types[0].__name__}, got {str(record[field])[:60]}")
        if types[0] is list and field in ("missing", "clauses", "edits", "replies") and any(type(part) is not str for part in record[field]):
            raise ValueError(f"{field} in {kind}: expected texts")


def check_result(result):
    if type(result) is not dict or type(result.get("schema")) is not int or result["schema"] != SCHEMA:
        raise ValueError(f"schema: expected {SCHEMA}")
    check_fields("a result", result)
    for test in result["tests"]:
        check_fields("a test", test)
    names = [test["name"] for test in result["tests"]]
    for submission in result["submissions"]:
        check_fields("a submission", submission)
        for mark in submission["marks"]:
            check_fields("a mark", mark)
            if mark["verdict"] not in VERDICTS:
                raise ValueError(f"verdict of {submission['name']}: {mark['verdict'][:60]}")
            if mark["failure"] is not None:
                check_fields("a failure", {"replies": [], **mark["failure"]})
        if [mark["name"] for mark in submission["marks"]] not in (names, []):
            raise ValueError(f"marks of {submission['name']}: expected one for each of the {len(names)} tests")
        if submission["passed"] != sum(mark["verdict"] == PASSED for mark in submission["marks"]):
            raise ValueError(f"passed of {submission['name']}: expected the number of its marks that say so")
