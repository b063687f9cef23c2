"""One row per clause: how many of the class passed it, failed it or have not written it, as CSV."""

from grader.points import plain
from grader.reports.csv import sheet
from grader.result import FAILED, NOT_RUN, PASSED, WAITING, clauses_of, rows_of

VERDICTS = {PASSED: "passed", FAILED: "failed", WAITING: "not written", NOT_RUN: "not run"}  # as the heads call them


def report(result):
    """A table of the class by clauses, in the order of the contract; who did not run is counted in no row."""
    ran = [row for row in rows_of(result) if row["points"] is not None]
    tests = list(reversed(result["tests"]))  # the first test that states a clause is its
    sentences = {clause: (test["function"], test["title"]) for test in tests for clause in test["clauses"]}
    rows = []
    for clause in clauses_of(result):
        verdicts = [row["clauses"].get(clause, NOT_RUN) for row in ran]
        counts = [verdicts.count(verdict) for verdict in VERDICTS]
        percent = plain(100 * counts[0] / len(ran)) if ran else ""
        rows.append([clause, *sentences.get(clause, ("", "")), *counts, percent])
    return sheet(["clause", "function", "test", *VERDICTS.values(), "percent passed"], rows)
