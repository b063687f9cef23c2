"""What grading makes: failures, marks, and a result, which reports are made from and which --resume reads back.

A result is a dict, and FIELDS is its shape. It holds submissions, a submission a mark for each test and a verdict for
each clause, a mark its first failure. What submissions said stands in it as it came: reports make it visible.
"""

import json
import re
from pathlib import Path

from grader.files import Lines
from grader.points import plain, points_of, worth_of
from grader.text import REASON_LIMIT, shortened, visible

PASSED, FAILED, WAITING, NOT_RUN = VERDICTS = ("passed", "failed", "waiting", "not run")
GRAVEST = (FAILED, WAITING, NOT_RUN, PASSED)  # what counts for a clause that several tests look at
DID_NOT_RUN, NOT_GRADED = "did not run", "not graded"  # states of a submission, beside PASSED and FAILED
LEFT_OUT = "Skipped (not submissions)"  # the heading of the names that were left out
SYMBOLS = {PASSED: "\u2714", FAILED: "\u2718", WAITING: "\u00b7", NOT_RUN: "?"}
SCHEMA = 3  # of a result
KEPT_SUFFIX = ".kept"  # of the file that holds what is graded until the result is written
LABELS = {"call": "call", "expected": "expected", "got": "got", "failed": "reason", "why": "because", "at": "at"}
TITLE = re.compile(r"([A-Z]\d+) +(.*)")


# ---- what became of a test


class Failure:
    """One row of a test that failed, as texts; replies are those that a client played in it."""

    def __init__(self, clause=None, because=None, call=None, expected=None, got=None, reason=None, replies=()):
        """clause: None when the failure came outside the rows. expected and got, or a reason."""
        self.clause, self.because, self.call, self.replies = clause, because, call, list(replies)
        self.expected, self.got, self.reason = expected, got, reason and shortened(reason, REASON_LIMIT)
        self.place = None  # (file, number) of the submission's own line
        self.cause = None  # the name of the exception that the submission raised
        self.hint = None  # a cause to look for; None: what the test says of the clause fits
        self.printed = ()  # what it printed in this call, as [text, bytes dropped] each
        self.follows = False  # it could not but fail: an earlier row ended the submission's process

    def as_dict(self, clause, sentence, at):
        """Return the failure as a result holds it; at is the text of the submission's own line, or None."""
        own = {field: getattr(self, field) for field in ("call", "expected", "got", "reason", "because", "replies")}
        return {"clause": clause, "sentence": sentence, **own, "at": at}


class Mark:
    """What became of one test: its verdict, and a Failure for each row that failed."""

    def __init__(self, test):
        self.name = test.id().rpartition(".")[2]
        group = type(test).__name__
        self.function = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", group).lower()
        lines = getattr(test, self.name).__doc__.splitlines()
        self.sentences = {match[1]: match[2] for match in map(TITLE.match, map(str.strip, lines)) if match}
        self.hints = hints_of(getattr(test, self.name).__doc__)
        self.verdict, self.failures, self.printed, self.seconds = NOT_RUN, [], [], 0.0
        self.wanted = None  # the clause that -k names: its failures come first

    @property
    def title(self):
        """The test's clauses and its first sentence."""
        return f"{'/'.join(self.sentences)} {next(iter(self.sentences.values()), self.name)}"

    @property
    def clauses(self):
        """The clauses that the test states; its name where it states none."""
        return list(self.sentences) or [self.name]

    def matches(self, pattern):
        """Return whether a pattern of -k means this test: a part of its name or function, or one of its clauses."""
        pattern = pattern.lower()
        return pattern in self.name or pattern in self.function or pattern.upper() in self.sentences

    def hint_of(self, failure):
        """Return the hint that fits a failure, or ""."""
        if failure.hint is not None:
            return failure.hint
        return self.hints.get(failure.clause) or self.hints.get("", "")

    def fail(self, failure):
        failure.follows = any(earlier.reason and earlier.reason == failure.reason for earlier in self.failures)
        self.verdict = FAILED
        self.failures.append(failure)

    def want(self, pattern):
        """Put the failures of the clause that a pattern names, if it names one, before the others."""
        if pattern.upper() in self.sentences:
            self.wanted = pattern.upper()
            self.failures.sort(key=lambda failure: failure.clause != self.wanted)

    def traps(self):
        """Return [(number of the failure that is told, how many are like it)]:
        one trap once, one exception in one line, one result.
        """
        group_of, counts = {}, {}
        for number, failure in enumerate(self.failures):
            alike = [(failure.clause, failure.because)] if failure.because else []
            alike.append(
                (failure.clause, failure.cause, failure.place)
                if failure.place
                else (failure.clause, failure.expected, failure.got)
            )
            first = next((group_of[kind] for kind in alike if kind in group_of), number)
            group_of.update((kind, first) for kind in alike if kind not in group_of)
            counts[first] = counts.get(first, 0) + 1
        return list(counts.items()) or [(0, 1)]

    def by_clause(self):
        """Return {clause: verdict}: a clause fails with a row of it;
        rows that an end of the process kept from running were not run.

        A failure outside the rows counts for the first clause when no row failed, and the rest was not run.
        """
        if self.verdict != FAILED:
            return dict.fromkeys(self.clauses, self.verdict)
        failed = {failure.clause for failure in self.failures if failure.clause and not failure.follows} or {
            self.clauses[0]
        }
        unseen = {failure.clause for failure in self.failures if failure.follows}
        # it ended the test, and nobody knows what was to come
        if any(failure.clause is None for failure in self.failures):
            unseen.update(self.clauses)
        return {
            clause: FAILED if clause in failed else NOT_RUN if clause in unseen else PASSED
            for clause in dict.fromkeys([*self.clauses, *sorted(failed)])
        }


def hints_of(text):
    """Return {clause: hint} of a test's docstring, which says `Hint P5: ...`,
    or `Hint: ...` for every clause, kept under "".
    """
    parts = re.split(r"^ *Hint ?([A-Z]\d+)?: ", text, flags=re.MULTILINE)[1:]
    return {clause or "": " ".join(hint.split()) for clause, hint in zip(parts[::2], parts[1::2])}


def verdicts_by_clause(marks):
    """Return {function: {clause: verdict}}, clauses in the order of the contract, each once:
    with the test that names it first.
    """
    functions, owner = {mark.function: {} for mark in marks}, {}
    for mark in marks:
        for clause, verdict in mark.by_clause().items():
            verdicts = functions[owner.setdefault(clause, mark.function)]
            verdicts[clause] = min(verdict, verdicts.get(clause, PASSED), key=GRAVEST.index)
    return {
        function: dict(sorted(verdicts.items(), key=lambda item: place_of(item[0])))
        for function, verdicts in functions.items()
    }


def place_of(clause):
    """Return what sorts clauses as the contract does: P2 before P10, and what is not a clause at the end."""
    return (0, clause[0], int(clause[1:]), "") if TITLE.match(f"{clause} -") else (1, "", 0, clause)


def seed_lines(result):
    """Return the line that tells the seed which renamed the data of the tests; none where it is as it is written."""
    seed = result["seed"]
    return [f"The names and numbers in the tests come from seed {seed}: --seed {seed} repeats this."] if seed else []


def sandbox_lines(result):
    """Return the line that tells what for every submission was closed in, and why not for the rest;
    none where none started.
    """
    started = [entry for entry in result["submissions"] if entry["closed_in"] or entry["why_not"]]
    if not started:
        return []
    words = [word for word in started[0]["closed_in"] if all(word in entry["closed_in"] for entry in started)]
    why_not = next((entry["why_not"] for entry in started if entry["why_not"]), "")
    if not words:
        return [f"Not closed in: {why_not}"]
    return [f"Closed in: {', '.join(words)}" + (f" ({why_not})" if why_not else "")]


def told(failure, verdict):
    """Return (label, text) of what is said of a failure: the call, the replies it plays, expected, got, why, at.

    Of a function that is not written yet no why: a trap is not news then.
    """
    replies = [(f"reply {number}", reply) for number, reply in enumerate(failure["replies"], start=1)]
    call, *rest = [
        (label, failure[field]) for label, field in LABELS.items() if not (verdict == WAITING and field == "because")
    ]
    return [(label, text) for label, text in [call, *replies, *rest] if text]


# ---- the shape of a result, and its reader

NUMBER_LIMIT = 1_000_000_000
NUMBER, TEXT, OPTIONAL, TEXTS = (int, float), (str,), (str, type(None)), (list,)
FIELDS = {
    "a result": {
        "schema": (int,),
        "lab": TEXT,
        "kit": TEXT,
        "limits": (dict,),
        "seed": (int,),
        "complete": (bool,),
        "missing": TEXTS,
        "left_out": TEXTS,
        "started": TEXT,
        "seconds": NUMBER,
        "tests": (list,),
        "points": (dict,),
        "submissions": (list,),
    },
    "a test": {"name": TEXT, "function": TEXT, "title": TEXT, "clauses": TEXTS},
    "a submission": {
        "name": TEXT,
        "path": TEXT,
        "passed": (int,),
        "total": (int,),
        "seconds": NUMBER,
        "reason": OPTIONAL,
        "first_failing": OPTIONAL,
        "clauses": (dict,),
        "marks": (list,),
        "digest": TEXT,
        "edits": TEXTS,
        "closed_in": TEXTS,
        "why_not": TEXT,
        "id": TEXT,
        "late": (bool,),
        "notes": TEXTS,
        "export": TEXT,
        "attempt": (int,),
        "form": TEXT,
    },
    "a mark": {"name": TEXT, "verdict": TEXT, "seconds": NUMBER, "failure": (dict, type(None)), "printed": TEXT},
    "a failure": {
        "clause": TEXT,
        "sentence": TEXT,
        **dict.fromkeys(("call", "expected", "got", "reason", "because", "at"), OPTIONAL),
        "replies": TEXTS,
    },
}  # a mark has the fields of its test besides


def refuse_constant(text):
    raise ValueError(f"{text} is not JSON")


def parse(text):
    """Return the value of a JSON text; ValueError for all else, however deeply it is nested."""
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_result(path):
    """Return the result in a JSON file; ValueError says in one line why it holds none, OSError why it cannot be read.

    It is one JSON text, or as Kept writes it: a line without submissions, and one more for each submission.
    """
    try:
        if Path(path).is_char_device():  # some have no end
            raise ValueError("it is a device")
        text = Path(path).read_text(encoding="utf-8")
        result = kept_result(text) if Path(path).suffix == KEPT_SUFFIX else parse(text)
        check_result(result)
    except ValueError as error:
        raise ValueError(visible(f"this is not a result of verify.py --json: {error}")) from error
    return result


def kept_result(text):
    """Return the result that lines of submissions make; the last line does not count when a kill has cut it short."""
    head, *submissions = map(parse, text.split("\n")[:-1])
    if type(head) is not dict:
        raise ValueError("its first line: expected an object")
    return {**head, "submissions": submissions}


def kept_beside(path):
    """Return the file beside a result in which submissions are kept until the result is written."""
    return Path(path).with_suffix(KEPT_SUFFIX)


class Kept:
    """The submissions of a result as they are graded, in a file, so that a kill loses none of them."""

    def __init__(self, path):
        """path: of the result that is written in the end."""
        self.path, self.lines, self.fault = kept_beside(path), None, None

    def __call__(self, result, submission=None):
        """Begin the file with a result (OSError where that cannot be done), or add a submission to it."""
        if submission is None:
            head = {**result, "submissions": []}
            try:
                self.lines = Lines(self.path, map(json.dumps, [head, *result["submissions"]]))
            except OSError as error:  # of a full disk the system names no file
                raise OSError(error.errno, error.strerror, str(self.path)) from error
        elif self.fault is None:  # after a line that is cut short no other can be read
            try:
                self.lines.add(json.dumps(submission))
            except OSError as error:  # the result may still be written in the end
                self.fault = error

    def remove(self):
        """Take the file away, since the result is written."""
        if self.lines:
            self.lines.remove()


def check(kind, record):
    """Refuse a record unless it has the fields of its kind, each of its exact type: a bool is not a number here."""
    if type(record) is not dict:
        raise ValueError(f"{kind}: expected an object, got {shortened(str(record), 60)}")
    for field, types in FIELDS[kind].items():
        if field not in record:
            raise ValueError(f"{field} is missing in {kind}")
        if type(record[field]) not in types:
            raise ValueError(
                f"{field} in {kind}: expected {types[0].__name__}, got {shortened(str(record[field]), 60)}"
            )
        if types is NUMBER and not abs(record[field]) < NUMBER_LIMIT:  # JSON has 1e999, which is infinite here
            raise ValueError(f"{field} in {kind}: expected a number below {NUMBER_LIMIT:,}")
        if types is TEXTS and any(type(part) is not str for part in record[field]):
            raise ValueError(f"{field} in {kind}: expected texts")


def check_result(result):
    """Refuse with a ValueError what is not a result."""
    if type(result) is not dict or type(result.get("schema")) is not int or result["schema"] != SCHEMA:
        raise ValueError(f"schema: expected {SCHEMA}")
    check("a result", result)
    for test in result["tests"]:
        check("a test", test)
        if not test["clauses"]:
            raise ValueError(f"clauses of {test['name']}: expected one at least")
    points = result["points"].values()
    if set(result["points"]) != {test["function"] for test in result["tests"]} or any(
        type(each) not in NUMBER or not 0 <= each < NUMBER_LIMIT for each in points
    ):
        raise ValueError("points: expected a number for each function")
    for submission in result["submissions"]:
        check_submission(submission, result["tests"])


def check_submission(submission, tests):
    """Refuse a submission unless it has a mark for each of the tests, or none at all."""
    check("a submission", submission)
    for mark in submission["marks"]:
        check("a mark", mark)
        if mark["failure"] is not None:
            check("a failure", mark["failure"])
    for verdict in [*(mark["verdict"] for mark in submission["marks"]), *submission["clauses"].values()]:
        if verdict not in VERDICTS:
            raise ValueError(f"verdict of {submission['name']}: {shortened(str(verdict), 60)}")
    told = [{field: mark.get(field) for field in FIELDS["a test"]} for mark in submission["marks"]]
    if told and told != [{field: test[field] for field in FIELDS["a test"]} for test in tests]:
        raise ValueError(
            f"marks of {submission['name']}: expected one for each of the {len(tests)} tests, with what is said of it"
        )
    if submission["passed"] != sum(mark["verdict"] == PASSED for mark in submission["marks"]):
        raise ValueError(f"passed of {submission['name']}: expected the number of its marks that say so")


# ---- what a reader wants of a result


def row_of(result, submission):
    """Return a submission with a status, remarks, points (None when it did not run),
    and one mark per test of the result, in their order.
    """
    given = {mark["name"]: mark for mark in submission["marks"]}
    blank = {"verdict": NOT_RUN, "seconds": 0.0, "failure": None, "printed": ""}
    marks = [{**blank, **test, **given.get(test["name"], {})} for test in result["tests"]]
    passed = sum(mark["verdict"] == PASSED for mark in marks)
    failed_status = DID_NOT_RUN if submission["reason"] else FAILED
    status = PASSED if marks and passed == len(marks) else failed_status
    for mark, worth in zip(marks, worth_of(result["points"], marks)):
        mark.update(max_points=worth, points=worth if mark["verdict"] == PASSED else 0)
    row = {"status": status, **submission, "marks": marks, "passed": passed, "total": len(marks)}
    row["points"] = None if row["reason"] else points_of(result["points"], marks, PASSED)
    return {
        **row,
        "remarks": [f"{row['status']}: {row['reason']}"] * bool(row["reason"])
        + ["late"] * row["late"]
        + row["notes"]
        + row["edits"],
    }


def rows_of(result):
    """Return a row for each submission; those that were not graded come last, and say so."""
    absent = {
        "path": "",
        "seconds": 0.0,
        "reason": "the grading was interrupted before it",
        "first_failing": None,
        "marks": [],
        "clauses": {},
        "edits": [],
        "id": "",
        "late": False,
        "notes": [],
        "export": "",
        "attempt": 0,
        "form": "",
    }
    missing = [{**absent, "name": name, "status": NOT_GRADED} for name in result["missing"]]
    return [row_of(result, submission) for submission in [*result["submissions"], *missing]]


def points_line(result):
    """Return what the functions are worth as a line of text; "" where each test is worth one point."""
    points = result["points"]
    if points == functions_of(result):
        return ""
    return f"{plain(sum(points.values()))} points: {', '.join(f'{name} {worth}' for name, worth in points.items())}"


def alike(result):
    """Return lists of the names of submissions that have the same form (see intake/forms.py),
    where more than one has.
    """
    groups = {}
    for submission in result["submissions"]:
        if submission["form"]:
            groups.setdefault(submission["form"], []).append(submission["name"])
    return [names for names in groups.values() if len(names) > 1]


def alike_with(result):
    """Return {name: names of the others that have the same form}."""
    return {name: [other for other in names if other != name] for names in alike(result) for name in names}


def functions_of(result):
    """Return {function: number of its tests}, in the order of the contract."""
    names = [test["function"] for test in result["tests"]]
    return {name: names.count(name) for name in names}


def clauses_of(result):
    """Return {clause: its place in the order of the contract}; a clause that only a failure names comes last."""
    clauses = [clause for test in result["tests"] for clause in test["clauses"]]
    clauses += [
        mark["failure"]["clause"]
        for submission in result["submissions"]
        for mark in submission["marks"]
        if mark["failure"]
    ]
    return {clause: place for place, clause in enumerate(dict.fromkeys(clauses))}


def clauses_that_fail(result):
    """Return [(clause, number of submissions that fail it)], the largest number first."""
    order, counts = clauses_of(result), {}
    for submission in result["submissions"]:
        for clause, verdict in submission["clauses"].items() if not submission["reason"] else ():
            if verdict == FAILED:
                counts[clause] = counts.get(clause, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], order.get(pair[0], len(order))))
