"""Grades one submission: runs the fifteen tests of its lab, and says of each what became of it.

Every test is known before anything starts, begins as "not run", and passes only by a recorded success.
"""

import importlib
import re
import sys
import time
import unittest
from pathlib import Path

from labtest import Mismatch, cut
from submission import Lost, Session, StandIn, module_name, read_sources

PASSED, FAILED, WAITING, NOT_RUN = "passed", "failed", "waiting", "not run"
TITLE = re.compile(r"([A-Z]\d+) +(.*)")


class Mark:
    """What became of one test: its verdict, and for each failed row clause, call, expected, got, because, reason."""

    def __init__(self, test):
        self.name = test.id().rpartition(".")[2]
        group = type(test).__name__
        self.function = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", group).lower()
        lines = getattr(test, self.name).__doc__.splitlines()
        self.sentences = {match[1]: match[2] for match in map(TITLE.match, map(str.strip, lines)) if match}
        self.hint = " ".join(getattr(test, self.name).__doc__.partition("Hint: ")[2].split())
        self.verdict, self.failures, self.printed, self.seconds = NOT_RUN, [], [], 0.0

    @property
    def title(self):
        """The test's clauses and its first sentence."""
        return f"{'/'.join(self.sentences)} {next(iter(self.sentences.values()), self.name)}"

    def fail(self, failure):
        self.verdict = FAILED
        self.failures.append(failure)


class Recorder(unittest.TestResult):
    """Writes what unittest reports into the marks. Skipped, expected to fail, or half passed is not passed."""

    def __init__(self, marks, session=None):
        super().__init__()
        self.marks, self.session = marks, session

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()
        if self.session is not None:
            self.session.begin()

    def stopTest(self, test):
        super().stopTest(test)
        mark = self.marks[test.id()]
        mark.seconds = time.monotonic() - self.started
        if self.session is not None:
            mark.printed = self.session.printed

    def addSuccess(self, test):
        mark = self.marks[test.id()]
        if mark.verdict == NOT_RUN:
            mark.verdict = PASSED

    def addSubTest(self, test, subtest, outcome):
        if outcome is not None:
            self.marks[test.id()].fail(failure_of(outcome[1], subtest.params))

    def addFailure(self, test, outcome):
        if test.id() in self.marks:  # else it is a class that could not be set up: its tests stay "not run"
            self.marks[test.id()].fail(failure_of(outcome[1], {}))

    addError = addFailure

    def addSkip(self, test, reason):
        self.marks[test.id()].fail({"reason": "it was skipped"})

    def addExpectedFailure(self, test, outcome):
        self.marks[test.id()].fail({"reason": "it was expected to fail"})

    def addUnexpectedSuccess(self, test):
        self.marks[test.id()].fail({"reason": "it was expected to fail"})


def failure_of(error, row):
    """Return one failed row as a dict of texts: clause, because, call, expected, got, reason, lines, cause."""
    failure = {"clause": row.get("clause"), "because": row.get("because")}
    if isinstance(error, Mismatch):
        lines, cause = getattr(error.cause, "lines", ()), type(error.cause).__name__ if error.cause else None
        return {**failure, "call": error.call, "expected": error.expected, "got": error.got, "lines": list(lines), "cause": cause}
    if isinstance(error, Lost):
        return {**failure, "reason": str(error), "lines": list(getattr(error, "lines", ()))}
    return {**failure, "reason": f"{type(error).__name__}: {cut(str(error))}", "lines": list(getattr(error, "lines", ()))}


class Report:
    """The result of one submission: a mark for each test in the order of the contract."""

    def __init__(self, path, marks, sources, load_failure=None):
        self.path, self.marks, self.sources, self.load_failure = Path(path), marks, sources, load_failure
        self.lab = module_name(self.path)
        self.task = "TASK.md" if self.lab == "ticket_triage" else f"scenario/{self.lab}/TASK.md"
        waiting = [mark for mark in marks if any(failure.get("cause") == "NotImplementedError" for failure in mark.failures)]
        groups = dict.fromkeys(mark.function for mark in marks)
        self.functions = [name for name in groups if self.definition(name)]
        self.unwritten = [name for name in self.functions if all(mark in waiting for mark in marks if mark.function == name)]
        self.unwritten = [name for name in self.unwritten if f'NotImplementedError("write {name}")' in self.sources[self.lab]]
        for mark in marks:
            if mark in waiting or (self.unwritten and mark.verdict == FAILED and mark.function not in self.functions):
                mark.verdict = WAITING

    def definition(self, name):
        """Return "file, line N" of a function's definition, or None."""
        for number, line in enumerate(self.sources.get(self.lab, "").splitlines(), start=1):
            if line.startswith(f"def {name}("):
                return f"{self.path}, line {number}"
        return None

    def source_line(self, file, number):
        """Return "file, line N: its text" of a line of the submission."""
        text = self.sources.get(Path(file).stem, "").splitlines()
        line = text[number - 1].strip() if 0 < number <= len(text) else ""
        name = self.path if Path(file).stem == self.lab else self.path.with_name(file)
        return f"{name}, line {number}: {line}" if line else f"{name}, line {number}"

    @property
    def passed(self):
        return sum(mark.verdict == PASSED for mark in self.marks)

    @property
    def complete(self):
        return self.passed == len(self.marks) > 0

    @property
    def first_failure(self):
        """The first mark that is not passed, or None."""
        return next((mark for mark in self.marks if mark.verdict != PASSED), None)


def tests_of(lab, module):
    """Return the lab's tests in the order they are written; what they import as the lab is `module`."""
    sys.modules[lab] = module
    tests = importlib.import_module(f"test_{lab}")
    tests.lab = module
    cases = [kind for kind in vars(tests).values() if isinstance(kind, type) and issubclass(kind, unittest.TestCase)]
    own = [kind for kind in cases if kind.__module__ == tests.__name__]
    return [kind(name) for kind in own for name in vars(kind) if name.startswith("test")]


def run_tests(tests, session=None, pattern=""):
    """Run the tests whose name holds the pattern; return the marks of those."""
    chosen = [test for test in tests if pattern.lower() in test.id().lower()]
    marks = {test.id(): Mark(test) for test in chosen}
    recorder = Recorder(marks, session)
    for test in chosen:
        test.run(recorder)
    return list(marks.values())


def grade(path, limits=None, pattern=""):
    """Grade the submission at path in a worker process; return its Report."""
    with Session(path, limits) as session:
        tests = tests_of(session.lab, StandIn(session.lab, session))
        marks = run_tests(tests, session, pattern)
        failure = session.load_failure and failure_of(session.load_failure, {})
    return Report(path, marks, session.sources, failure)


def grade_here(path, pattern=""):
    """Run the tests on the submission in this process, for a debugger; this is no grade."""
    lab = module_name(Path(path))
    sys.path.insert(0, str(Path(path).parent.resolve()))
    marks = run_tests(tests_of(lab, importlib.import_module(lab)), None, pattern)
    return Report(path, marks, read_sources(Path(path)))
