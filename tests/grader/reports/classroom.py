"""The result of one submission, for GitHub Classroom's reporter."""

import base64
import json

from grader.points import plain
from grader.reports import mark_text, only_row
from grader.result import FAILED, PASSED
from grader.text import visible

FOR_ONE = True
LIMIT = 120_000  # bytes: the reporter reads an environment variable, and Linux allows 128 KiB for one


def report(result):
    """The value of a step output that GitHub Classroom's reporter reads:
    base64 of JSON, with the points of each test.
    """
    row = only_row(result)
    for limit in (4000, 1000, 250, 60):
        tests = [classroom_test(mark, limit) for mark in row["marks"]]
        status = "pass" if row["status"] == PASSED else "fail" if row["status"] == FAILED else "error"
        value = {"version": 1, "status": status, "max_score": plain(sum(result["points"].values())), "tests": tests}
        encoded = base64.b64encode(json.dumps(value, ensure_ascii=False).encode("utf-8")).decode("ascii")
        if len(encoded) <= LIMIT:
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
        "name": visible(mark["title"]),
        "status": "pass" if passed else "fail",
        "score": mark["points"],
        "message": message,
        "test_code": "",
        "filename": "",
        "line_no": 0,
        "duration": round(mark["seconds"] * 1000),
    }
