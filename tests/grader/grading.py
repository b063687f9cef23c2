"""Grades one submission: runs the fifteen tests of its lab, and says of each what became of it.

A test counts as passed when unittest has recorded its success, and in no other case: one that vanishes was "not run".
"""

import importlib
import re
import sys
import time
import types
import unittest
from pathlib import Path

from grader.intake.handout import definitions
from labdata import fresh
from labtest import Mismatch, cut
from grader.intake.sources import LABS, MAIN_LAB, Lost, lab_of, read_sources
from grader.line.session import Session, StandIn
from grader.result import FAILED, NOT_RUN, PASSED, WAITING

PRINTED_LIMIT = 2000  # characters of a test's output in a report
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

    @property
    def label(self):
        """The first clause that the test states: it names the test in short."""
        return next(iter(self.sentences), self.name)

    def matches(self, pattern):
        """Return whether a pattern of -k means this test: a part of its name or function, or one of its clauses."""
        pattern = pattern.lower()
        return pattern in self.name or pattern in self.function or pattern.upper() in self.sentences

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
    """Return one failed row as a dict of texts (clause, because, call, expected, got, reason, cause) and place, (file, number)."""
    failure = {"clause": row.get("clause"), "because": row.get("because")}
    call = getattr(error, "call", None)
    failure["call"] = call and str(call)
    failure["replies"], failure["printed"] = (list(getattr(call, field, ())) for field in ("replies", "printed"))
    if isinstance(error, Mismatch):
        place, cause = getattr(error.cause, "place", None), type(error.cause).__name__ if error.cause else None
        return {**failure, "expected": error.expected, "got": error.got, "place": place, "cause": cause}
    reason = str(error) if isinstance(error, Lost) else f"{type(error).__name__}: {cut(str(error))}"
    return {**failure, "reason": reason, "place": getattr(error, "place", None)}


def tail(text):
    """Return the last PRINTED_LIMIT characters of a text, and say so when it is longer."""
    return text if len(text) <= PRINTED_LIMIT else f"(the last {PRINTED_LIMIT:,} of {len(text):,} characters)\n{text[-PRINTED_LIMIT:]}"


class Report:
    """The result of one submission: a mark for each test in the order of the contract."""

    def __init__(self, path, lab, marks, sources, names, load_failure=None):
        """sources: {module: text}; names: what the submission's module has; load_failure: a failure, or None."""
        self.path, self.lab, self.marks, self.sources, self.load_failure = Path(path), lab, marks, sources, load_failure
        self.notes = []
        self.sentences = {clause: text for mark in reversed(marks) for clause, text in mark.sentences.items()}
        self.task = "TASK.md" if lab == MAIN_LAB else f"scenario/{lab}/TASK.md"
        waiting = [mark for mark in marks if any(failure.get("cause") == "NotImplementedError" for failure in mark.failures)]
        groups = dict.fromkeys(mark.function for mark in marks)
        if load_failure:
            for mark in marks:
                mark.verdict, mark.failures = NOT_RUN, []
        functions = [name for name in groups if name in names]
        stubs = [name for name in functions if f'NotImplementedError("write {name}")' in self.sources[lab]]
        self.unwritten = [name for name in stubs if all(mark in waiting for mark in marks if mark.function == name)]
        for mark in marks:  # a group of another name, such as the command line, needs every function
            if mark in waiting or (self.unwritten and mark.verdict == FAILED and mark.function not in functions and names):
                mark.verdict = WAITING

    def definition(self, name):
        """Return "file, line N" of a function's definition, or the file where it is not seen."""
        number = definitions(self.sources.get(self.lab, "")).get(name)
        return f"{self.path.as_posix()}, line {number}" if number else self.path.as_posix()

    def source_line(self, file, number):
        """Return "file, line N: its text" of a line of the submission."""
        text = self.sources.get(Path(file).stem, "").splitlines()
        line = text[number - 1].strip() if 0 < number <= len(text) else ""
        name = (self.path if Path(file).stem == self.lab else self.path.with_name(file)).as_posix()
        return f"{name}, line {number}: {line}" if line else f"{name}, line {number}"

    @property
    def passed(self):
        return sum(mark.verdict == PASSED for mark in self.marks)

    @property
    def complete(self):
        return self.passed == len(self.marks) > 0

    @property
    def reason(self):
        """Why the submission did not run, with the line, or None."""
        if not self.load_failure:
            return None
        place = self.load_failure.get("place")
        return self.load_failure["reason"] + (f" (line {place[1]})" if place else "")

    def as_dict(self, name=None):
        """Return what reports are made from: one submission, all texts and numbers."""
        failed = next((mark for mark in self.marks if mark.verdict != PASSED and not self.load_failure), None)
        return {
            "name": name or self.path.stem,
            "path": str(self.path),
            "passed": self.passed,
            "total": len(self.marks),
            "seconds": round(sum(mark.seconds for mark in self.marks), 3),
            "reason": self.reason,
            "first_failing": self.failure_texts(failed)[0]["clause"] if failed else None,
            "marks": [self.mark_as_dict(mark) for mark in self.marks],
        }

    def mark_as_dict(self, mark):
        return {
            "name": mark.name,
            "function": mark.function,
            "clauses": list(mark.sentences),
            "title": mark.title,
            "verdict": mark.verdict,
            "seconds": round(mark.seconds, 3),
            "failure": None if mark.verdict == PASSED or self.load_failure else self.failure_texts(mark)[0],
            "printed": tail("".join(text for text, _ in mark.printed)),
        }

    def failure_texts(self, mark, every=False):
        """Return the first failure of a mark (or every one) as texts: clause, sentence, call, expected, got, ..."""
        rows = []
        for failure in (mark.failures or [{"reason": NOT_RUN}])[: None if every else 1]:
            clause = failure.get("clause") or next(iter(mark.sentences), mark.name)
            sentence = mark.sentences.get(clause) or self.sentences.get(clause) or mark.name
            texts = {field: failure.get(field) for field in ("call", "expected", "got", "reason", "because")}
            place = failure.get("place")
            texts["replies"] = failure.get("replies", [])
            rows.append({"clause": clause, "sentence": sentence, **texts, "at": self.source_line(*place) if place else None})
        return rows


def tests_of(lab, module, seed=0):
    """Return the lab's tests in the order they are written, their data renamed by seed; what they import as the lab is `module`."""
    sys.modules[lab] = module
    if fresh.seed != seed:
        fresh.begin(seed)
        for other in LABS:  # their data is named when they are imported
            sys.modules.pop(f"test_{other}", None)
    tests = importlib.import_module(f"test_{lab}")
    tests.lab = module
    cases = [kind for kind in vars(tests).values() if isinstance(kind, type) and issubclass(kind, unittest.TestCase)]
    own = [kind for kind in cases if kind.__module__ == tests.__name__]
    return [kind(name) for kind in own for name in vars(kind) if name.startswith("test")]


def run_tests(tests, session=None, pattern="", progress=None):
    """Run the tests that the pattern means, and return their marks. progress(done, total) is called after each."""
    marks = {test.id(): Mark(test) for test in tests}
    exact = [test for test in tests if marks[test.id()].function == pattern]
    chosen = exact or [test for test in tests if marks[test.id()].matches(pattern)]
    recorder = Recorder(marks, session)
    for done, test in enumerate(chosen, start=1):
        test.run(recorder)
        if progress:
            progress(done, len(chosen))
    return [marks[test.id()] for test in chosen]


def grade(path, limits=None, lab=None):
    """Grade the submission at path in a worker process; return its Report."""
    with Session(path, limits, lab) as session:
        return grade_session(session)


def grade_session(session, pattern="", progress=None):
    """Grade the submission of a session that is open; return its Report."""
    marks = run_tests(tests_of(session.lab, StandIn(session.lab, session)), session, pattern, progress)
    failure = session.load_failure and failure_of(session.load_failure, {})
    return Report(session.path, session.lab, marks, session.sources, {*session.attributes, *session.values}, failure)


def grade_nothing(name, lab, reason=None):
    """Return the dict of a submission of which no test was run, for that reason."""
    return Report(Path(f"{lab}.py"), lab, unrun(lab), {}, set(), reason and failure_of(Lost(reason), {})).as_dict(name)


def unrun(lab):
    """Return the marks of a lab's tests before any has run."""
    return [Mark(test) for test in tests_of(lab, StandIn(lab))]


def grade_here(path, pattern="", lab=None):
    """Run the tests on the submission in this process, for a debugger; this is no grade."""
    lab = lab or lab_of(path) or MAIN_LAB
    try:
        sources = read_sources(path, lab)
    except Lost as error:
        return Report(path, lab, unrun(lab), {}, set(), failure_of(error, {}))
    module = sys.modules[lab] = types.ModuleType(lab)
    module.__file__ = str(path)
    sys.path.insert(0, str(path.parent.resolve()))
    exec(compile(sources[lab], str(path), "exec", dont_inherit=True), vars(module))
    return Report(path, lab, run_tests(tests_of(lab, module), None, pattern), sources, set(vars(module)))
