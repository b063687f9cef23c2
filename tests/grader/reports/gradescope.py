"""results.json of one submission, for Gradescope."""

import json

from grader.reports import mark_text, only_row
from grader.result import PASSED, functions_of, seed_lines
from grader.text import visible

FOR_ONE = True


def report(result):
    """results.json of Gradescope: the points of each test, no score at the top, which would override their sum."""
    row = only_row(result)
    functions = list(functions_of(result))
    seen = dict.fromkeys(functions, 0)
    tests = []
    for mark in row["marks"]:
        seen[mark["function"]] += 1
        passed = mark["verdict"] == PASSED
        tests.append(
            {
                "name": visible(mark["title"]),
                "number": f"{functions.index(mark['function']) + 1}.{seen[mark['function']]}",
                "score": mark["points"],
                "max_score": mark["max_points"],
                "status": "passed" if passed else "failed",
                "visibility": "visible",
                "output": "" if passed else mark_text(mark),
                "output_format": "text",
            }
        )
    output = "\n".join(
        [f"{row['passed']} of {row['total']} passed", *map(visible, row["remarks"]), *seed_lines(result)]
    )
    return (
        json.dumps(
            {"output": output, "output_format": "text", "execution_time": row["seconds"], "tests": tests}, indent=1
        )
        + "\n"
    )
