"""JUnit XML, for GitLab, Jenkins and others."""

import xml.etree.ElementTree as ET

from grader.reports import failure_lines
from grader.result import NOT_RUN, PASSED, points_line, rows_of
from grader.text import visible, visible_lines


def report(result):
    """A testsuite for each submission. Whatever did not pass is a failure: a skipped test would look harmless."""
    rows = rows_of(result)
    root = ET.Element(
        "testsuites", name=visible(result["lab"]), **counts_of(rows), time=format(result["seconds"], ".3f")
    )
    for row in rows:
        suite = ET.SubElement(root, "testsuite", name=visible(row["name"]), **counts_of([row]))
        suite.attrib.update(
            time=format(sum(mark["seconds"] for mark in row["marks"]), ".3f"), timestamp=visible(result["started"])[:19]
        )
        if points_line(result) and row["points"] is not None:
            ET.SubElement(ET.SubElement(suite, "properties"), "property", name="points", value=str(row["points"]))
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
        lines = failure_lines(mark) if mark["failure"] else [visible(note) for note in row["remarks"]] or [NOT_RUN]
        failure = ET.SubElement(case, "failure", message=lines[0], type=mark["verdict"])
        failure.text = "\n".join(lines)
    if mark["printed"]:
        ET.SubElement(case, "system-out").text = "\n".join(visible_lines(mark["printed"]))
    return case
