"""Grades one submission: runs the fifteen tests of its lab, and says of each what became of it.

A test counts as passed when unittest has recorded its success, and in no other case: one that vanishes was "not run".
"""

import contextlib
import importlib
import os
import re
import sys
import time
import types
import unittest
from pathlib import Path

from labtest import LabTest, Mismatch, cut, name_of

from grader.intake.handout import definitions
from grader.intake.sources import LABS, MAIN_LAB, Unreadable, lab_of, read_sources
from grader.labdata import fresh
from grader.line.errors import Lost
from grader.line.session import RemoteModule, Session
from grader.result import FAILED, NOT_RUN, PASSED, WAITING, Failure, Mark, verdicts_by_clause
from grader.text import REASON_LIMIT, shortened

LATE = "it ran longer than"  # in the reason of a call that came to no end
IMPATIENT = 2.0  # seconds for each further test of a function, when somebody waits and one came to no end
STOPPED = "it was stopped with Ctrl-C while this call ran"
OPAQUE = re.compile(r"'?Opaque'? object")  # in what Python says of a value that did not cross
DID_NOT_CROSS = (
    "Opaque stands for an object of the submission, which stays in its process: only plain data, functions and the "
    "lab's own exceptions cross. A test uses labtest's Client instead of lab.ReplayClient"
)
LATE_HINT = "Look at the loop around this line, and at what this line waits for. What makes it end?"
PRINTED_LIMIT = 2000  # characters of a test's output in a report


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
            self.marks[test.id()].fail(failure_of(outcome[1], subtest.params, getattr(test, "last_call", None)))

    def addFailure(self, test, outcome):
        if test.id() in self.marks:  # else it is a class that could not be set up: its tests stay "not run"
            self.marks[test.id()].fail(failure_of(outcome[1], {}, getattr(test, "last_call", None)))

    addError = addFailure

    def addSkip(self, test, reason):
        self.marks[test.id()].fail(Failure(reason="it was skipped"))

    def addExpectedFailure(self, test, outcome):
        self.marks[test.id()].fail(Failure(reason="it was expected to fail"))

    def addUnexpectedSuccess(self, test):
        self.marks[test.id()].fail(Failure(reason="it was expected to fail"))


def failure_of(error, row, last_call=None):
    """Return the Failure of an exception in a row;
    row holds the row's clause and because, last_call is the Call made last.
    """
    call = getattr(error, "call", None) or (last_call if isinstance(error, Lost) else None)
    place = getattr(error, "place", None)
    texts = {
        "clause": row.get("clause"),
        "because": row.get("because"),
        "call": call and str(call),
        "replies": getattr(call, "replies", ()),
    }
    if isinstance(error, Mismatch):
        failure = Failure(**texts, expected=error.expected, got=error.got)
        failure.hint = row.get("hint")
        failure.because = failure.because if error.because is None else error.because or None
        failure.hint = failure.hint if error.hint is None else error.hint
        failure.cause = type(error.cause).__name__ if error.cause else None
        failure.place = getattr(error.cause, "place", None)
    else:
        failure = Failure(
            **texts, reason=str(error) if isinstance(error, Lost) else f"{name_of(error)}: {cut(str(error))}"
        )
        failure.place, failure.because = place, None  # the row says why another value is wrong
        failure.hint = LATE_HINT if LATE in failure.reason else ""
    if OPAQUE.search(failure.reason or failure.got or ""):
        failure.because, failure.hint = DID_NOT_CROSS, ""
    failure.printed = list(getattr(call, "printed", ()))
    return failure


def tail(text):
    """Return the last PRINTED_LIMIT characters of a text, and say so when it is longer."""
    return (
        text
        if len(text) <= PRINTED_LIMIT
        else f"(the last {PRINTED_LIMIT:,} of {len(text):,} characters)\n{text[-PRINTED_LIMIT:]}"
    )


def unwritten_of(marks, source, names):
    """Return which of the functions `names` are as the starter has them:
    no test of theirs does more than to find that out.
    """
    functions = [name for name in dict.fromkeys(mark.function for mark in marks) if name in names]
    stubs = [name for name in functions if f'NotImplementedError("write {name}")' in source]
    return [name for name in stubs if all(waits(mark) for mark in marks if mark.function == name)]


def waits(mark):
    """Return whether a test has met a function that is not written yet."""
    return any(failure.cause == "NotImplementedError" for failure in mark.failures)


def let_wait(marks, unwritten, names):
    """Give the verdict "waiting" to tests that failed only for want of a function to write.

    A group of tests of another name, such as the command line, needs every function.
    """
    for mark in marks:
        if waits(mark) or (unwritten and mark.verdict == FAILED and mark.function not in names and names):
            mark.verdict = WAITING


class Report:
    """The result of one submission: a mark for each test in the order of the contract."""

    def __init__(self, path, lab, marks, sources, unwritten=(), load_failure=None):
        """sources: {module: text}; unwritten: functions to write that are not; load_failure: a Failure, or None."""
        self.path, self.lab, self.marks, self.sources, self.load_failure = Path(path), lab, marks, sources, load_failure
        self.unwritten, self.notes, self.seed = unwritten, [], fresh.seed
        self.closed_in, self.why_not = [], ""  # what for its process was closed in, and why not for the rest
        self.stopped = any(failure.reason == STOPPED for mark in marks for failure in mark.failures)
        self.sentences = {clause: text for mark in reversed(marks) for clause, text in mark.sentences.items()}
        self.task = "TASK.md" if lab == MAIN_LAB else f"scenario/{lab}/TASK.md"

    def definition(self, name):
        """Return "file, line N" of a function's definition, or the file where it is not seen."""
        number = definitions(self.sources.get(self.lab, "")).get(name)
        return f"{self.path.as_posix()}, line {number}" if number else self.path.as_posix()

    def source_line(self, file, number):
        """Return "file, line N: its text" of a line of the submission."""
        text = self.sources.get(Path(file).stem, "").split("\n")
        line = shortened(text[number - 1].strip(), REASON_LIMIT) if 0 < number <= len(text) else ""
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
        place = self.load_failure.place
        return self.load_failure.reason + (f" (line {place[1]})" if place else "")

    def as_dict(self, name=None):
        """Return the submission of a result, as result.FIELDS has it, but for digest and edits, which a class adds."""
        failed = next((mark for mark in self.marks if mark.verdict != PASSED and not self.load_failure), None)
        return {
            "name": name or self.path.stem,
            "path": str(self.path),
            "passed": self.passed,
            "total": len(self.marks),
            "seconds": round(sum(mark.seconds for mark in self.marks), 3),
            "reason": self.reason,
            "closed_in": self.closed_in,
            "why_not": self.why_not,
            "first_failing": self.failures(failed)[0]["clause"] if failed else None,
            "clauses": {
                clause: verdict
                for verdicts in verdicts_by_clause(self.marks).values()
                for clause, verdict in verdicts.items()
            },
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
            "failure": None if mark.verdict == PASSED or self.load_failure else self.failures(mark)[0],
            "printed": tail("".join(text for text, _ in mark.printed)),
        }

    def failures(self, mark, every=False):
        """Return the first failure of a mark (or every one) as a result holds them."""
        rows = []
        for failure in (mark.failures or [Failure(reason=NOT_RUN)])[: None if every else 1]:
            clause = failure.clause or mark.clauses[0]
            sentence = mark.sentences.get(clause) or self.sentences.get(clause) or mark.name
            rows.append(failure.as_dict(clause, sentence, self.source_line(*failure.place) if failure.place else None))
        return rows


def tests_of(lab, module, seed=None):
    """Return the lab's tests in the order they are written; what they import as the lab is `module`.

    Their data is renamed by seed; None leaves the seed as it is.
    """
    for other in LABS:  # of a lab that was graded before, whose submission is gone
        sys.modules.pop(other, None)
    sys.modules[lab] = module
    if seed not in (None, fresh.seed):
        fresh.begin(seed)
        for other in LABS:  # their data is named when they are imported
            sys.modules.pop(f"test_{other}", None)
    tests = importlib.import_module(f"test_{lab}")
    tests.lab = module
    cases = [kind for kind in vars(tests).values() if isinstance(kind, type) and issubclass(kind, unittest.TestCase)]
    own = [kind for kind in cases if kind.__module__ == tests.__name__]
    return [kind(name) for kind in own for name in vars(kind) if name.startswith("test")]


def run_tests(tests, session=None, pattern="", progress=None, alone=False):
    """Run the tests that the pattern means, and return their marks. progress(done, total) is called after each.

    alone: somebody waits for it. After a loop without end the other tests of that function are not waited for as long,
    and Ctrl-C ends the run and keeps what is known.
    """
    marks = {test.id(): Mark(test) for test in tests}
    exact = [test for test in tests if marks[test.id()].function == pattern]
    chosen = exact or [test for test in tests if marks[test.id()].matches(pattern)]
    recorder, endless = Recorder(marks, session), set()
    for done, test in enumerate(chosen, start=1):
        mark = marks[test.id()]
        if mark.function in endless:
            session.time.seconds = min(session.limits.seconds, IMPATIENT)
        try:
            test.run(recorder)
        except KeyboardInterrupt as error:
            # another signal: nobody is there to read what is known
            if not alone or type(error) is not KeyboardInterrupt:
                raise
            mark.fail(Failure(call=test.last_call and str(test.last_call), reason=STOPPED))
            break
        if session is not None:
            session.time.seconds = session.limits.seconds
        if alone and session is not None and any(LATE in (failure.reason or "") for failure in mark.failures):
            endless.add(mark.function)
        if progress:
            progress(done, len(chosen))
    for mark in marks.values():
        mark.want(pattern)
    return [marks[test.id()] for test in chosen]


def grade(path, limits=None, lab=None, workers=None):
    """Grade the submission at path in a worker process; return its Report. workers: where and how these are made."""
    with Session(path, limits, lab, workers) as session:
        return grade_session(session)


def grade_session(session, pattern="", progress=None, alone=False):
    """Grade the submission of a session that is open; return its Report. alone: as in run_tests."""
    tests = tests_of(session.lab, RemoteModule(session.lab, session), session.limits.seed)
    marks = run_tests(tests, session, pattern, progress, alone)
    if session.load_failure:
        report = report_of_none(session.path, session.lab, marks, session.load_failure, session.sources)
    else:
        report = report_of(session.path, session.lab, marks, session.sources, set(session.functions))
    report.closed_in, report.why_not = session.closed_in or [], session.why_not
    return report


def report_of(path, lab, marks, sources, names):
    """Return the Report of tests that have run on a module with these names; those that wait for a function say so."""
    unwritten = unwritten_of(marks, sources[lab], names)
    let_wait(marks, unwritten, names)
    return Report(path, lab, marks, sources, unwritten)


def report_of_none(path, lab, marks, error, sources=()):
    """Return the Report of a submission that could not be loaded, for the reason that error (a Lost) gives."""
    for mark in marks:
        mark.verdict, mark.failures = NOT_RUN, []
    return Report(path, lab, marks, dict(sources), (), failure_of(error, {}))


def grade_nothing(name, lab, reason=None):
    """Return the submission of a result of which no test was run, for that reason."""
    marks, path = unrun(lab), Path(f"{lab}.py")
    return (Report(path, lab, marks, {}) if reason is None else report_of_none(path, lab, marks, Lost(reason))).as_dict(
        name
    )


def unrun(lab):
    """Return the marks of a lab's tests before any has run."""
    return [Mark(test) for test in tests_of(lab, RemoteModule(lab))]


def grade_here(path, pattern="", lab=None, seed=0):
    """Run the tests on the submission in this process, for a debugger; this is not a grade."""
    lab = lab or lab_of(path) or MAIN_LAB
    try:
        sources = read_sources(path, lab)
    except Unreadable as error:
        return report_of_none(path, lab, unrun(lab), Lost(str(error)))
    module = sys.modules[lab] = types.ModuleType(lab)
    module.__file__ = str(path)
    sys.path.insert(0, str(path.parent.resolve()))
    exec(compile(sources[lab], str(path), "exec", dont_inherit=True), vars(module))
    with announced_calls():
        marks = run_tests(tests_of(lab, module, seed), None, pattern, alone=True)
    return report_of(path, lab, marks, sources, set(vars(module)))


@contextlib.contextmanager
def announced_calls():
    """Tell, at each breakpoint() of a submission, which call it is in."""

    def hook(*args, **kwargs):
        print(f"\nIn the call {LabTest.running}", flush=True)
        if os.environ.get("PYTHONBREAKPOINT"):  # another debugger
            return sys.__breakpointhook__(*args, **kwargs)
        return pdb.Pdb().set_trace(sys._getframe(1))

    import pdb

    before, sys.breakpointhook = sys.breakpointhook, hook
    try:
        yield
    finally:
        sys.breakpointhook = before
