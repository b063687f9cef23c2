"""The fifteen tests of the eval harness lab. Read the names and first lines: they are the contract.

Each test both accepts and refuses something. A row of a table is a trap; `because` says why it is one.
"""

import itertools
import json
import unittest
from fractions import Fraction
from functools import partial

import eval_harness as lab
from grader.labdata import fresh
from grader.line.session import command_line
from labtest import Beginning, Containing, LabTest, Row, same, shown

# ---- what the tests share


class Near(Containing):
    """Stands for any float within 1e-9 of a number."""

    def __init__(self, number):
        super().__init__(str(float(number)))
        self.number = number

    def holds(self, value):
        return type(value) is float and abs(value - self.number) < 1e-9

    def __repr__(self):
        return f"<{float(self.number)!r}, to 1e-9>"


class Part(Containing):
    """Stands for any dict that has these fields among others."""

    def __init__(self, **fields):
        super().__init__()
        self.fields = fields

    def holds(self, value):
        return type(value) is dict and all(
            name in value and same(value[name], self.fields[name]) for name in self.fields
        )

    def __repr__(self):
        return f"<a dict with {shown(self.fields)}>"


class AnyFloat(Containing):
    """Stands for any float: what it is belongs to another clause."""

    def holds(self, value):
        return type(value) is float

    def __repr__(self):
        return "<a float>"


class Played:
    """A callable that plays one outcome (an exception is raised) and records its calls. Its name says what it plays."""

    def __init__(self, name, outcome, calls):
        self.name, self.outcome, self.calls = name, outcome, calls
        self.__name__ = (
            f"{name} that raises {outcome!r}" if isinstance(outcome, BaseException) else f"{name} -> {shown(outcome)}"
        )

    def __call__(self, *args, **kwargs):
        self.calls.append((self.name, list(args), kwargs))
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


FILES = {fresh.name("src/gate.py"): fresh.text("OPEN = 6\n").encode(), fresh.name("check.py"): b""}
EXPECTED = {fresh.name("src/gate.py"): fresh.text("OPEN = 7\n").encode()}
ARGV = fresh.names("./tools/gatecheck", "--strict", "")
SECONDS = fresh.number(37)
ARGS = {"argv": ARGV, "timeout_seconds": SECONDS}
GREEN, RED = f"{fresh.text('All tests')} passed", fresh.text("The gate stays shut")
LONG = f" {RED}'\n\n" + f"{GREEN} \"\\\n" * 200 + f"100% {{0}} caf\u00e9 \u7ef4\r\n{RED} \n"  # many lines, quotes, blanks around them


class ShellExitZero(LabTest):
    CALLS = "run_command is called once, with these three arguments, by position"  # why it is one of these calls

    def verifying(self, row):
        row.runs = Played("run_command", row.outcome, [])
        return partial(lab.shell_exit_zero, FILES, ARGS, EXPECTED, row.runs)

    def check_calls(self, row):
        self.check("the calls of run_command", row.runs.calls, [("run_command", [FILES, ARGV, SECONDS], {})], self.CALLS)

    def test_v1_v3_a_command_passes_when_it_exits_with_0(self):
        """V1 run_command is called once, by position, and the exit code 0 passes; the output decides nothing.
        V3 detail contains the code and the output.

        Hint: Which of the two things that run_command returns did you look at? And is what you return first
        a bool?
        """
        code = fresh.number(23)
        rows = [
            Row("0 passes", outcome=(0, GREEN), gives=(True, Containing("0", GREEN))),
            Row("0 passes, whatever the output says", outcome=(0, LONG), gives=(True, Containing("0", LONG))),
            Row("a long output stays whole", outcome=(1, LONG), gives=(False, Containing("1", LONG)), clause="V3"),
            Row("0 passes without any output", outcome=(0, ""), gives=(True, Containing("0"))),
            Row(
                "1 does not pass, although the output is green",
                outcome=(1, GREEN),
                gives=(False, Containing("1", GREEN)),
            ),
            Row("1 does not pass without any output", outcome=(1, ""), gives=(False, Containing("1"))),
            Row("any other code does not pass", outcome=(code, RED), gives=(False, Containing(str(code), RED))),
            Row(
                "the output is the word 0, and the code is not", outcome=(2, "0"), gives=(False, Containing("2", "0"))
            ),
        ]
        self.returns_each(self.verifying, rows, clause="V1", after=self.check_calls)
        for seconds, because in ((0.25, "files may be none, and a limit a part of a second"), (86400, "a limit may be a day")):
            with self.subTest(clause="V1", because=because):
                runs = Played("run_command", (0, GREEN), [])
                args = {**ARGS, "timeout_seconds": seconds}
                self.returns((True, Containing(GREEN)), lab.shell_exit_zero, {}, args, {}, runs)
                self.check("the calls of run_command", runs.calls, [("run_command", [{}, ARGV, seconds], {})], self.CALLS)

    def test_v2_v3_one_that_cannot_start_or_end_has_not_passed(self):
        """V2 Another code, no code and OSError are not passed, without an exception; other exceptions pass through.
        V3 detail contains the seconds and the output, or argv[0] after OSError.

        Hint: Which exception says that the command cannot start, and which other classes are kinds of it?
        What is the code when the time ran out: is it a number?
        """
        late = (False, Containing(str(SECONDS), RED))
        rows = [
            Row("the time ran out, and no code came", outcome=(None, RED), gives=late),
            Row(
                "the time ran out, and the output is green",
                outcome=(None, GREEN),
                gives=(False, Containing(str(SECONDS), GREEN)),
            ),
            Row("a long output stays whole", outcome=(None, LONG), clause="V3",
                gives=(False, Containing(str(SECONDS), LONG))),
            Row("the time ran out before any output", outcome=(None, ""), gives=(False, Containing(str(SECONDS)))),
            Row("a signal ended it: the code is negative", outcome=(-9, RED), gives=(False, Containing("-9", RED))),
            Row("256 is not 0, although one byte of it is", outcome=(256, RED), gives=(False, Containing("256", RED))),
            Row("it ended well", outcome=(0, RED), gives=(True, Containing("0", RED))),
        ]
        self.returns_each(self.verifying, rows, clause="V2", after=self.check_calls)
        with self.subTest(clause="V3", because="a limit may be a part of a second, and detail has it as it is"):
            late = (False, Containing("0.25", RED))
            runs = Played("run_command", (None, RED), [])
            self.returns(late, lab.shell_exit_zero, FILES, {**ARGS, "timeout_seconds": 0.25}, EXPECTED, runs)
        unable = (False, Containing(ARGV[0]))
        rows = [
            Row("no such command", outcome=FileNotFoundError(2, "No such file"), gives=unable),
            Row("the command is not a program", outcome=OSError(8, "Exec format error"), gives=unable),
            Row("nobody may run it", outcome=PermissionError(13, "Permission denied"), gives=unable),
            Row("an OSError without a number", outcome=OSError("no"), gives=unable),
            Row("TimeoutError is a kind of OSError", outcome=TimeoutError(110, "Timed out"), gives=unable),
        ]
        self.returns_each(self.verifying, rows, clause="V2", after=self.check_calls)
        for fault in (RuntimeError(RED), ValueError(RED), KeyError(ARGV[0]), TypeError(GREEN)):
            with self.subTest(clause="V2", because="this is a fault of the harness, and not of the files"):
                self.passes_on(fault, lab.shell_exit_zero, FILES, ARGS, EXPECTED, Played("run_command", fault, []))


# ---- files


FIX, OTHER, NEW, TEST, DEEP, HELPER = fresh.names(
    "gate.py", "hinge.py", "latch.py", "check_gate.py", "old/gate.py", "conftest.py"
)
LOADED = [HELPER, "__init__.py", "sitecustomize.pyc", "setup.cfg", "pytest.ini", "tox.toml", "data.txt", "Makefile", ".env"]
BUGGY = {
    FIX: fresh.text("bug").encode(),
    TEST: fresh.text("check").encode(),
    OTHER: b"",
    DEEP: fresh.text("older").encode(),
}
MENDED = b" \xff\r\n" + fresh.text("mended").encode() + b"\r\n\n"  # not UTF-8, and with line ends of two kinds


class LayOver(LabTest):
    def laying(self, row):
        row.buggy, row.left = dict(BUGGY), dict(row.work)
        return partial(lab.lay_over, row.buggy, row.left, row.editable)

    def check_unchanged(self, row):
        self.check("buggy after the call", row.buggy, BUGGY)
        self.check("work after the call", row.left, row.work)

    def test_w1_w2_editable_files_count_as_they_were_left(self):
        """W1 An editable path counts as it is in work, new or empty too.
        W2 One that is not in work is not in the result.
        W4 The result is a new dict; buggy and work stay as they are.

        Hint: A path can be in buggy, in work, in both, or only editable. Go through the four cases. Does an
        empty content count as no content anywhere?
        """
        rest = {path: content for path, content in BUGGY.items() if path != FIX}
        rows = [
            Row("it was mended", editable=[FIX], work={**BUGGY, FIX: MENDED}, gives={**BUGGY, FIX: MENDED}),
            Row(
                "it was mended, and is all that is left",
                editable=[FIX],
                work={FIX: MENDED},
                gives={**BUGGY, FIX: MENDED},
            ),
            Row("it was left alone", editable=[FIX], work=dict(BUGGY), gives=dict(BUGGY)),
            Row(
                "it was emptied: an empty file is a file",
                editable=(FIX,),
                work={**BUGGY, FIX: b""},
                gives={**BUGGY, FIX: b""},
            ),
            Row("it is new", editable=[FIX, NEW], work={**BUGGY, NEW: MENDED}, gives={**BUGGY, NEW: MENDED}),
            Row("it is new and empty", editable=(NEW,), work={**BUGGY, NEW: b""}, gives={**BUGGY, NEW: b""}),
            Row(
                "the test may be edited in this task",
                editable=[TEST],
                work={**BUGGY, TEST: MENDED},
                gives={**BUGGY, TEST: MENDED},
            ),
            Row("it was deleted", clause="W2", editable=[FIX], work=rest, gives=rest),
            Row("it never was", clause="W2", editable=[NEW], work=dict(BUGGY), gives=dict(BUGGY)),
            Row(
                "it moved: one was deleted, one is new",
                clause="W2",
                editable=(NEW, FIX),
                work={**rest, NEW: MENDED},
                gives={**rest, NEW: MENDED},
            ),
            Row("everything was deleted", clause="W2", editable=[FIX, OTHER, TEST, DEEP], work={}, gives={}),
        ]
        self.returns_each(self.laying, rows, clause="W1", after=self.check_unchanged)

    def test_w3_nothing_else_counts(self):
        """W3 Every path that is not editable is as in buggy: rewritten, deleted or added, it counts for nothing.
        W4 The result is a new dict; buggy and work stay as they are.

        Hint: From which of the two dicts do you take a path that is not editable? Is a path compared whole, or
        only a part of it?
        """
        mended = {**BUGGY, FIX: MENDED}
        inside, shorter, longer = f"{FIX}/{OTHER}", FIX[:-1], f"{FIX}c"
        upper = FIX.swapcase()
        rows = [
            Row("the test was rewritten", work={**mended, TEST: b"pass"}, gives=mended),
            Row("the test was emptied", work={**mended, TEST: b""}, gives=mended),
            Row("the test was deleted", work={FIX: MENDED}, gives=mended),
            Row("files were added that test runners load", work={**mended, **dict.fromkeys(LOADED, MENDED)}, gives=mended),
            Row(
                "a file of the same name in another folder was rewritten", work={**mended, DEEP: MENDED}, gives=mended
            ),
            Row(
                "a file of the same name in a new folder was added",
                work={**mended, f"new/{FIX}": MENDED},
                gives=mended,
            ),
            Row("one whose name goes on was added", work={**mended, longer: MENDED}, gives=mended),
            Row("one whose name is shorter was added", work={**mended, shorter: MENDED}, gives=mended),
            Row("one in a folder of that name was added", work={**mended, inside: MENDED}, gives=mended),
            Row("one with ./ before its name was added", work={**mended, f"./{FIX}": b""}, gives=mended),
            Row("one with / before its name was added", work={**mended, f"/{FIX}": b""}, gives=mended),
            Row("one with a blank behind its name was added", work={**mended, f"{FIX} ": b""}, gives=mended),
            Row(
                "one with a backslash for the / was added",
                editable=[DEEP],
                work={**BUGGY, DEEP.replace("/", "\\"): b""},
                gives=dict(BUGGY),
            ),
            Row("a . in a name stands for itself", work={**mended, FIX.replace(".", "_"): b""}, gives=mended),
            Row("a * in a name stands for itself", editable=[fresh.name("*.py")], work={**mended, TEST: b""}, gives=dict(BUGGY)),
            Row("upper and lower case are two names", work={**mended, upper: b""}, gives=mended),
            Row("an empty file that was filled", work={**mended, OTHER: MENDED}, gives=mended),
            Row("nothing is editable", editable=(), work=mended, gives=dict(BUGGY)),
            Row(
                "only the path in the folder is editable",
                editable=(DEEP,),
                work={**mended, DEEP: b""},
                gives={**BUGGY, DEEP: b""},
            ),
        ]
        self.returns_each(self.laying, rows, clause="W3", editable=[FIX], after=self.check_unchanged)


# ---- one sample


START, TOOK = fresh.number(4711) + 4e-7, fresh.number(1234.5678912)
COST = fresh.number(34.5)
CLAIM = {"success_self_reported": True, "cost_units": COST, "latency_ms": 0.0, "edits": [FIX]}
VERDICT = (True, fresh.text("exit code 0: the gate opens"))


class Gone(Exception):
    """An exception that no submission knows."""


class Try:
    """A candidate, a verifier and a clock that record in one list how they are called."""

    def __init__(self, claim, verdict, took):
        self.took, self.calls = took, []
        self.candidate, self.verify = Played("candidate", claim, self.calls), Played("verify", verdict, self.calls)

    def clock(self, *args, **kwargs):
        self.calls.append(("clock", list(args), kwargs))
        return START if len(self.calls) == 1 else START + self.took

    def order(self):
        """Return the names of what was called; all is called without arguments."""
        return [name if not args and not kwargs else f"{name} with arguments" for name, args, kwargs in self.calls]


def sample(status, detail, cost_units, success, latency_ms=None):
    """Return a whole sample; its latency may be any float unless one is given."""
    return {
        "status": status,
        "detail": detail,
        "latency_ms": AnyFloat() if latency_ms is None else latency_ms,
        "cost_units": cost_units,
        "success_self_reported": success,
    }


def in_ms(seconds):
    return round((START + seconds - START) * 1000, 3)


class RunSample(LabTest):
    def trying(self, row):
        row.tried = Try(row.claim, row.verdict, row.took)
        return partial(lab.run_sample, row.tried.candidate, row.tried.verify, row.tried.clock)

    def samples_each(self, rows, **common):
        """Try each row, whose common part is a right claim and a verdict."""
        self.returns_each(self.trying, rows, **{"claim": CLAIM, "verdict": VERDICT, "took": TOOK, **common})

    def check_order(self, row):
        self.check("the calls", row.tried.order(), ["clock", "candidate", "clock", "verify"])

    def check_unverified(self, row):
        self.check("how often verify is called", row.tried.order().count("verify"), 0)

    def test_s1_only_the_candidate_is_timed(self):
        """S1 The calls are clock, candidate, clock, verify; latency_ms is the time between the two readings in ms.

        Hint: Between which two calls lies the work of the candidate? Where in your code is the second reading
        of the clock when the candidate raises?
        """
        short, timed = fresh.number(0.00123), lambda took: Part(latency_ms=in_ms(took))
        steps = (short + step / 1e6 for step in range(1000))
        uneven = next(took for took in steps if in_ms(took) != round(START + took - START, 6) * 1000)
        rows = [
            Row("milliseconds, rounded to 3 places"),
            Row("a short time is rounded, not cut", took=short + 6e-7, gives=timed(short + 6e-7)),
            Row("it is the difference that is rounded, and not upwards", took=short + 3e-7, gives=timed(short + 3e-7)),
            Row("milliseconds are rounded, not seconds", took=uneven, gives=timed(uneven)),
            Row("no time at all", took=0.0, gives=timed(0.0)),
            Row(
                "what the candidate says of its latency is not read", claim={**CLAIM, "latency_ms": fresh.number(71.5)}
            ),
        ]
        self.samples_each(rows, clause="S1", gives=timed(TOOK), after=self.check_order)
        begun = lambda row: self.check("the first calls", row.tried.order()[:3], ["clock", "candidate", "clock"])
        rows = [
            Row("a candidate that raises took its time too", claim=Gone(RED)),
            Row("a claim that is refused took its time too", claim=None),
        ]
        self.samples_each(rows, clause="S1", gives=timed(TOOK), after=begun)

    def test_s2_the_verdict_is_not_the_claim(self):
        """S2 The verifier alone decides the status; detail is its detail, cost and claim are the candidate's.

        Hint: Which value decides between pass and fail in your code? Do you change the cost or the claim on
        the way, by converting or rounding them?
        """
        humble, whole = {**CLAIM, "success_self_reported": False}, fresh.number(12)
        no = (False, fresh.text("exit code 1: still shut"))
        tiny, lines = fresh.number(0.123456789), f" 2 failed, 1 error\n{RED}\n\n{GREEN} "
        rows = [
            Row("it claims success, and the verifier says yes", gives=sample("pass", VERDICT[1], COST, True)),
            Row("it claims success, and the verifier says no", verdict=no, gives=sample("fail", no[1], COST, True)),
            Row(
                "it claims failure, and the verifier says yes",
                claim=humble,
                gives=sample("pass", VERDICT[1], COST, False),
            ),
            Row(
                "it claims failure, and the verifier says no",
                claim=humble,
                verdict=no,
                gives=sample("fail", no[1], COST, False),
            ),
            Row("a long detail stays whole", verdict=(False, LONG), gives=sample("fail", LONG, COST, True)),
            Row("an empty detail stays empty", verdict=(False, ""), gives=sample("fail", "", COST, True)),
            Row("the detail may say error", verdict=(True, "error"), gives=sample("pass", "error", COST, True)),
            Row("a detail of many lines stays", verdict=(True, lines), gives=sample("pass", lines, COST, True)),
            Row(
                "an int cost stays an int",
                claim={**CLAIM, "cost_units": whole},
                gives=sample("pass", VERDICT[1], whole, True),
            ),
            Row(
                "a cost is not rounded here",
                claim={**CLAIM, "cost_units": tiny},
                gives=sample("pass", VERDICT[1], tiny, True),
            ),
        ]
        self.samples_each(rows, clause="S2")

    def test_s3_a_candidate_that_raises_is_an_error(self):
        """S3 A candidate that raises is an error: it is not verified, and detail has class name and message.

        Hint: Which exceptions can an agent raise? What do you know of its cost after that?
        """
        error = lambda *parts: sample("error", Containing(*parts), 0.0, None)
        kinds = [ValueError, RuntimeError, TypeError, KeyError, AssertionError, ZeroDivisionError, TimeoutError, Gone]
        kinds += [NotImplementedError, StopIteration, MemoryError, RecursionError, ConnectionError, UnicodeError]
        rows = [
            Row(f"{kind.__name__} is an Exception", claim=kind(RED), gives=error(kind.__name__, RED)) for kind in kinds
        ]
        own = Row("ScenarioError is an Exception too", claim=lab.ScenarioError(RED), gives=error("ScenarioError", RED))
        rows.append(own)
        rows.append(Row("a number stands before the message", claim=OSError(28, RED), gives=error("OSError", RED)))
        rows.append(Row("a long message stays whole", claim=ValueError(LONG), gives=error("ValueError", LONG)))
        rows.append(Row("an exception without a message has a class", claim=Gone(), gives=error("Gone")))
        self.samples_each(rows, clause="S3", after=self.check_unverified)
        self.samples_each([Row("one that does not raise is verified", gives=Part(detail=VERDICT[1]))], clause="S3")

    def test_s4_what_it_returns_is_checked_like_a_reply(self):
        """S4 What the candidate returns is checked as a reply of a model is: a dict, success a bool, cost a number.

        Hint: Try isinstance(True, int), float("nan") < 0 and float("nan") > 1e12 in the interpreter. Can you
        be sure that what comes is a dict before you look into it?
        """
        claims = [
            ({"cost_units": 0, "success_self_reported": False}, "the two fields are enough, and 0 is a cost"),
            ({"cost_units": 0.0, "success_self_reported": False}, "0.0 is a cost"),
            ({"cost_units": 1e12, "success_self_reported": True}, "1e12 is the largest cost"),
            ({"cost_units": 10**12, "success_self_reported": False}, "10**12 is the same as an int"),
            ({**CLAIM, "latency_ms": "fast", "status": 7, "detail": None, "notes": [RED]}, "other fields are not read"),
        ]
        taken = lambda claim: Part(
            cost_units=claim["cost_units"], success_self_reported=claim["success_self_reported"]
        )
        rows = [Row(because, claim=claim, gives=taken(claim)) for claim, because in claims]
        loud = {**CLAIM, "status": "pass", "passed": True, "detail": GREEN, "error": GREEN}
        failed = Part(status="fail", detail="", cost_units=COST)
        rows.append(Row("other fields decide nothing", claim=loud, verdict=(False, ""), gives=failed))
        self.samples_each(rows, clause="S4")
        wrong = [
            ("cost_units", -1, "a cost is not below 0"),
            ("cost_units", -1e-9, "a cost is not below 0"),
            ("cost_units", 10**12 + 1, "1e12 is the largest cost"),
            ("cost_units", 1e12 + 0.5, "1e12 is the largest cost"),
            ("cost_units", 10**400, "no float is as large as this int"),
            ("cost_units", float("inf"), "an infinite cost makes every sum infinite"),
            ("cost_units", float("nan"), "nan is not below 0, not above 1e12, and not in between"),
            ("cost_units", True, "true is a bool, and bool is a kind of int"),
            ("cost_units", False, "false is a bool, and bool is a kind of int"),
            ("cost_units", str(COST), "a text is not converted"),
            ("cost_units", None, "null is not a number"),
            ("cost_units", [COST], "a list is not a number"),
            ("success_self_reported", 1, "1 equals true and is an int"),
            ("success_self_reported", 0, "0 equals false and is an int"),
            ("success_self_reported", 1.0, "1.0 equals true and is a float"),
            ("success_self_reported", "true", "a text is not a bool"),
            ("success_self_reported", "", "an empty text is not a bool"),
            ("success_self_reported", None, "null is not an answer"),
            ("success_self_reported", [], "an empty list is not a bool"),
        ]
        refused = lambda *parts: Part(
            status="error", detail=Containing(*parts), cost_units=0.0, success_self_reported=None
        )
        rows = [Row(because, claim={**CLAIM, field: value}, gives=refused(field)) for field, value, because in wrong]
        for field in ("cost_units", "success_self_reported"):
            left = {name: value for name, value in CLAIM.items() if name != field}
            rows.append(Row(f"{field} is missing", claim=left, gives=refused(field)))
        for claim in (None, True, 0, COST, RED, [], [True, COST], (True, COST), list(CLAIM.items()), set(), b"", object()):
            rows.append(Row(f"a {type(claim).__name__} is not a dict", claim=claim, gives=refused()))
        self.samples_each(rows, clause="S4", after=self.check_unverified)

    def test_s5_s2_a_broken_verifier_passes_through(self):
        """S5 What verify raises passes through: then the harness is at fault, and no sample comes of it.
        S2 The verifier alone decides the status; detail is its detail, cost and claim are the candidate's.

        Hint: Which calls are inside your try? Only one of them is the candidate's.
        """
        for fault in (
            RuntimeError(RED),
            OSError(28, "No space left on device"),
            ValueError(RED),
            AssertionError(RED),
            KeyError("argv"),
            Gone(RED),
        ):
            with self.subTest(clause="S5", because="the verifier failed, and the candidate did not"):
                tried = Try(CLAIM, fault, TOOK)
                self.passes_on(fault, lab.run_sample, tried.candidate, tried.verify, tried.clock)
        rows = [
            Row("a verifier that says no is not broken", verdict=(False, RED), gives=Part(status="fail", detail=RED)),
            Row(
                "a broken verifier is not asked after an error",
                claim=Gone(GREEN),
                verdict=RuntimeError(RED),
                gives=Part(detail=Containing(GREEN)),
            ),
        ]
        self.samples_each(rows, clause="S2")


# ---- pass@k


def share_with_a_pass(n, c, k):
    """Return the share of the ways to draw k of n samples, of which the first c passed, that hold a pass."""
    draws = list(itertools.combinations(range(n), k))
    return Fraction(sum(min(draw) < c for draw in draws), len(draws))


def drawn_in_turn(n, c, k):
    """Return the same, drawing one sample after the other."""
    none = Fraction(1)
    for drawn in range(k):
        none *= Fraction(max(n - c - drawn, 0), n - drawn)
    return 1 - none


class PassAtK(LabTest):
    def test_k1_k2_pass_at_k_is_what_all_draws_give(self):
        """K1 The result is 1 - C(n-c, k) / C(n, k): the share of all draws of k samples that hold a pass.
        K2 n is an int from 1, c from 0 to n, k from 1 to n; else ValueError begins with the first that is wrong.

        Hint: How often can the same sample be drawn? What is C(n-c, k) when fewer than k samples failed? Which
        of your checks lets True through?
        """
        counting = lambda row: partial(lab.pass_at_k, *row.numbers)
        small = [(n, c, k) for n in range(1, 7) for c in range(n + 1) for k in range(1, n + 1)]
        self.returns_each(counting, [
            Row(f"{c} of {n} passed; draw {k}", numbers=(n, c, k), gives=Near(share_with_a_pass(n, c, k)))
            for n, c, k in small
        ], clause="K1")  # fmt: skip
        draw, large = (
            fresh.random("pass_at_k"),
            [(200, 3, 100), (1000, 1, 1), (1000, 999, 1), (2000, 40, 1500), (5000, 2, 2500), (10**6, 3, 2)],
        )
        for _ in range(20):
            n = draw.randrange(20, 400)
            large.append((n, draw.randrange(n + 1), draw.randrange(1, n + 1)))
        self.returns_each(counting, [
            Row("the numbers of draws are huge, and their share is not", numbers=row, gives=Near(drawn_in_turn(*row)))
            for row in large
        ], clause="K1")  # fmt: skip
        wrong = [
            ("n:", (0, 0, 1), "no sample was taken"),
            ("n:", (-3, 0, 1), "n is below 1"),
            ("n:", (5.0, 1, 2), "5.0 equals 5 and is a float"),
            ("n:", ("5", 1, 2), "a text is not converted"),
            ("n:", (True, 1, 1), "true is a bool, and bool is a kind of int"),
            ("n:", (None, 1, 2), "null is not a number"),
            ("c:", (5, -1, 2), "c is below 0"),
            ("c:", (5, 6, 2), "more passes than samples"),
            ("c:", (5, 1.0, 2), "1.0 equals 1 and is a float"),
            ("c:", (5, True, 2), "true is a bool, and bool is a kind of int"),
            ("c:", (5, False, 2), "false is a bool, and bool is a kind of int"),
            ("c:", (5, None, 2), "null is not a number"),
            ("k:", (5, 1, 0), "no sample is drawn"),
            ("k:", (5, 1, -1), "k is below 1"),
            ("k:", (5, 1, 6), "more are drawn than there are"),
            ("k:", (5, 5, 6), "more are drawn than there are, although all passed"),
            ("k:", (5, 1, 2.0), "2.0 equals 2 and is a float"),
            ("k:", (5, 1, True), "true is a bool, and bool is a kind of int"),
            ("k:", (5, 1, "2"), "a text is not converted"),
            ("n:", (0, 9, 9), "n, c and k are wrong: n comes first"),
            ("n:", (True, None, 2.0), "n, c and k are wrong: n comes first"),
            ("c:", (5, 9, 9), "c and k are wrong: c comes first"),
        ]
        for named, numbers, because in wrong:
            with self.subTest(clause="K2", because=because):
                self.refuses(ValueError, Beginning(named), lab.pass_at_k, *numbers)


# ---- many samples


def made(*rows, **fields):
    """Return samples from rows (status, latency_ms, cost_units)."""
    return [{**sample(status, RED, cost, True, latency), **fields} for status, latency, cost in rows]


FIVE = made(
    ("fail", fresh.number(412.123456789), fresh.number(2.123456789123)),
    ("pass", fresh.number(97.987654321), fresh.number(4.5)),
    ("error", fresh.number(803.246813579), 0.0),
    ("pass", fresh.number(55.75), fresh.number(1.333333333377)),
    ("pass", fresh.number(268.5), 0),
)


def exact_mean(samples, field, places):
    return round(float(sum(Fraction(one[field]) for one in samples) / len(samples)), places)


def nearest_rank(samples):
    """Return the smallest latency that at least 95 of 100 samples do not exceed."""
    latencies = [one["latency_ms"] for one in samples]
    reached = [value for value in latencies if 100 * sum(other <= value for other in latencies) >= 95 * len(latencies)]
    return round(min(reached), 3)


def numbers_of(samples, ks):
    """Return what summarize has to return."""
    count, passes = len(samples), sum(one["status"] == "pass" for one in samples)
    return {
        "samples": count,
        "passes": passes,
        "errors": sum(one["status"] == "error" for one in samples),
        "pass_rate": round(passes / count, 6),
        "pass_at_k": {str(k): round(float(drawn_in_turn(count, passes, k)), 6) for k in ks},
        "mean_latency_ms": exact_mean(samples, "latency_ms", 3),
        "p95_latency_ms": nearest_rank(samples),
        "mean_cost": exact_mean(samples, "cost_units", 6),
        "total_cost": round(float(sum(Fraction(one["cost_units"]) for one in samples)), 6),
    }


class Summarize(LabTest):
    def summing(self, row):
        return partial(lab.summarize, row.samples, row.ks)

    def test_n1_n2_every_sample_counts(self):
        """N1 These nine numbers, and every sample is in each of them, errors too.
        N2 pass_at_k has str(k) for each k, with pass_at_k(samples, passes, k) to 6 places.

        Hint: By what do you divide: by all samples, or by those that passed? Which of the nine numbers do you
        round, and to how many places?
        """
        failed = made(("fail", fresh.number(31.5), 1.5), ("fail", fresh.number(12.25), 2.5))
        broken = made(("error", fresh.number(31.5), 0.0), ("error", fresh.number(12.25), 0.0), ("error", 0.0, 0.0))
        liars = made(
            ("fail", fresh.number(41.5), 1.5), ("pass", 12.25, 2.5), success_self_reported=True, detail="pass"
        )
        rows = [
            Row("3 of 5 passed; all five count in each mean, and each number is rounded as N4 says", samples=FIVE, ks=[1, 3]),
            Row("an error took time, and its time counts", samples=FIVE[1:3], ks=(1,)),
            Row("one sample", samples=FIVE[:1], ks=[1]),
            Row("one sample that passed", samples=FIVE[1:2], ks=(1,)),
            Row("none passed", samples=failed, ks=[2, 1]),
            Row("all are errors", samples=broken, ks=(3,)),
            Row("the claim is not counted, only the status", samples=liars, ks=[1]),
            Row("no k: pass_at_k is empty", samples=FIVE, ks=(), clause="N2"),
            Row(
                "the keys are texts, and the values are not those of the plug-in formula",
                samples=FIVE,
                ks=[5, 2, 4],
                clause="N2",
            ),
            Row("thirds are rounded to 6 places", samples=FIVE[1:4], ks=(1, 2), clause="N2"),
        ]
        for row in rows:
            row.gives = numbers_of(row.samples, row.ks)
        self.returns_each(self.summing, rows, clause="N1")
        with self.subTest(clause="N2", because="pass@k of more samples than there are cannot be told"):
            self.refuses(ValueError, Beginning("k:"), lab.summarize, FIVE, [6])

    def test_n3_n4_p95_means_and_one_rounding(self):
        """N3 p95 is the latency at place ceil(0.95 n) in ascending order.
        N4 Rates and costs have 6 places, milliseconds 3; they are rounded once, at the end.

        Hint: Sort first: at which place does counting begin in Python, and at which in the contract? Is
        anything rounded before it is added up?
        """
        draw = fresh.random("latencies")
        counts = (1, 2, 3, 5, 10, 19, 20, 21, 39, 40, 41, 59, 60, 61, 80, 99, 100, 101)
        rows = []
        for count in counts:
            latencies = draw.sample(range(1000, 9000), count)
            samples = made(*(("pass", latency + 0.123456789, 1.5) for latency in latencies))
            rows.append(
                Row(
                    f"of {count} latencies, the one at place {-(-95 * count // 100)}",
                    samples=samples,
                    gives=numbers_of(samples, ()),
                )
            )
        same = made(*[("pass", 7.5, 1.5)] * 18, ("fail", fresh.number(91.5), 1.5), ("error", fresh.number(83.5), 1.5))
        rows.append(Row("the latency of an error counts", samples=same, gives=numbers_of(same, ())))
        self.returns_each(self.summing, rows, clause="N3", ks=())
        dust = made(*[("pass", 0.0004, 0.0000004)] * 3)
        halves = made(("fail", 1.0004, 1.0000004), ("fail", 1.0004, 1.0000004), ("pass", 1.0008, 1.0000008))
        rows = [
            Row("three small costs together are not 0", samples=dust),
            Row("the mean of rounded numbers is another one", samples=halves),
            Row("the mean is not that of a rounded total", samples=made(*[("fail", 0.0, 0.0000014999)] * 2)),
            Row("the mean is not that of a rounded total", samples=made(*[("pass", 0.0, 0.0000015001)] * 2)),
            Row("more places than are shown", samples=FIVE),
            Row("large costs", samples=made(("pass", 1.5, 1e12), ("pass", 2.5, 1e12))),
        ]
        for row in rows:
            row.gives = numbers_of(row.samples, ())
        self.returns_each(self.summing, rows, clause="N4", ks=())


# ---- two reports


IDS = fresh.names("fizz", "typo", "empty-body", "linked_list", "zeta", "alpha")
SUITE, OTHER_SUITE = fresh.names("5e1fa0c4", "5e1fa0c5")


def report(passes, samples=5, suite=SUITE):
    """Return a report with what compare reads, and nothing else."""
    return {
        "suite_sha256": suite,
        "samples": samples,
        "tasks": [{"task_id": name, "passes": count} for name, count in passes],
    }


class Compare(LabTest):
    OLD = report([(IDS[0], 5), (IDS[1], 0), (IDS[2], 3), (IDS[3], 2), (IDS[4], 4), (IDS[5], 4)])
    NEW = report([(IDS[5], 1), (IDS[2], 3), (IDS[4], 3), (IDS[3], 5), (IDS[1], 1), (IDS[0], 5)])
    RESULT = {"regressed": [IDS[5], IDS[4]], "improved": [IDS[3], IDS[1]], "unchanged": [IDS[2], IDS[0]]}

    def comparing(self, row):
        return partial(lab.compare, row.old, row.new)

    def test_b1_names_who_got_worse_in_order(self):
        """B1 regressed, improved and unchanged hold the ids with fewer, more and as many passes, in the order of new.
        B2 Another suite or another number of samples is refused: ScenarioError names the field.

        Hint: Which report gives the order, and which one is fewer compared with? Are the tasks of both reports
        in the same order?
        """
        names = IDS[:2]
        one = lambda before, now: {
            "old": report([(names[0], before), (names[1], 1)]),
            "new": report([(names[0], now), (names[1], 1)]),
        }
        result = lambda **fields: {"regressed": [], "improved": [], "unchanged": [], **fields}
        rows = [
            Row("two got worse, two better, in an order of their own", old=self.OLD, new=self.NEW, gives=self.RESULT),
            Row("the other way round", old=self.NEW, new=self.OLD, gives={
                "regressed": [IDS[1], IDS[3]], "improved": [IDS[4], IDS[5]], "unchanged": [IDS[0], IDS[2]]}),
            Row("a report and itself", old=self.OLD, new=self.OLD, gives=result(unchanged=IDS)),
            Row("one pass fewer is fewer", **one(4, 3), gives=result(regressed=names[:1], unchanged=names[1:])),
            Row("none is fewer than one", **one(1, 0), gives=result(regressed=names[:1], unchanged=names[1:])),
            Row("none before and none now", **one(0, 0), gives=result(unchanged=names)),
            Row("one pass more is more", **one(0, 1), gives=result(improved=names[:1], unchanged=names[1:])),
            Row("as many are as many, in two objects", **one(fresh.number(4711), fresh.number(4711)), gives=result(unchanged=names)),
            Row("no tasks", old=report([]), new=report([]), gives=result()),
        ]  # fmt: skip
        self.returns_each(self.comparing, rows, clause="B1")
        loud = {"totals": {"passes": 1}, "schema_version": 1, "ks": [1]}
        full = {**self.NEW, **loud, "tasks": [{**task, "pass_rate": 0.5, "details": []} for task in self.NEW["tasks"]]}
        with self.subTest(clause="B1", because="a whole report has more fields, and they say nothing here"):
            self.returns(self.RESULT, lab.compare, self.OLD, full)
        with self.subTest(clause="B2", because="what cannot be compared gives no lists"):
            self.refuses(lab.ScenarioError, "samples", lab.compare, self.OLD, {**self.NEW, "samples": 6})

    def test_b2_b3_what_cannot_be_compared_is_refused(self):
        """B2 Another suite or another number of samples is refused: ScenarioError names the field.
        B3 A task that only one of the reports has is refused by name.

        Hint: Did you look for tasks that are missing, and for tasks that are new? What does a task count that
        is not there?
        """
        tasks = [(IDS[0], 5), (IDS[1], 2)]
        more = [*tasks, (IDS[2], 0)]
        with self.subTest(clause="B2", because="the same suite and as many samples can be compared"):
            expected = {"regressed": [], "improved": [], "unchanged": IDS[:2]}
            self.returns(expected, lab.compare, report(tasks), report(tasks))
        rows = [
            Row("another suite is another exam", new=report(tasks, suite=OTHER_SUITE), names="suite_sha256"),
            Row("the passes are the same, of more samples", new=report(tasks, samples=10), names="samples"),
            Row("fewer samples", new=report([(IDS[0], 1), (IDS[1], 1)], samples=1), names="samples"),
            Row("a new task, without a pass", clause="B3", new=report(more), names=IDS[2]),
            Row("a task has gone", clause="B3", new=report(tasks[:1]), names=IDS[1]),
            Row("a task was renamed", clause="B3", new=report([tasks[0], (IDS[3], 2)]), names=""),
            Row("all tasks have gone", clause="B3", new=report([]), names=""),
            Row("a task without a pass has gone", clause="B3", old=report(more), new=report(tasks), names=IDS[2]),
        ]
        self.refuses_each(lab.ScenarioError, self.comparing, rows, clause="B2", old=report(tasks))


# ---- the command line


class CommandLine(LabTest):
    FIRST, SECOND, THIRD = fresh.names("gate-typo", "greeting", "hopeless_case")
    PATH = fresh.name("src/door.py")
    BUG, CURE = fresh.text("Hallo wrold\n"), fresh.text("Hallo world\n")
    ANSWER = fresh.name("world")

    def suite(self, **changes):
        """Return the files of a suite of three tasks; changes: fields of the first task."""
        verifiers = {
            self.FIRST: {"name": "file_equals", "args": {"path": self.PATH}},
            self.SECOND: {"name": "regex_match", "args": {"path": self.PATH, "pattern": f"{self.ANSWER}$"}},
            self.THIRD: {"name": "regex_match", "args": {"path": self.PATH, "pattern": "^never$"}},
        }
        files = {"suite/suite.json": json.dumps({"tasks": list(verifiers)})}
        for name, verifier in verifiers.items():
            task = {"id": name, "goal": RED, "setup": {"dir": "buggy"}, "editable": [self.PATH], "verifier": verifier}
            if name == self.FIRST:
                task.update(changes)
            files[f"suite/tasks/{name}/task.json"] = json.dumps(task)
            files[f"suite/tasks/{name}/buggy/{self.PATH}"] = self.BUG
            files[f"suite/tasks/{name}/expected/{self.PATH}"] = self.CURE
        return files

    def run_main(self, arguments, files, encoding="utf-8"):
        """Run main on files; return (exit code, stdout, lines of stderr)."""

        def main(arguments):
            return command_line(lab, arguments, files, encoding)

        code, out, err = self.value_of("an exit code", main, arguments)
        return code, out, err.splitlines()

    def check_run(self, arguments, files, code, err):
        """Run main; compare the exit code and the lines of stderr; return the report, or None without one."""
        got, out, lines = self.run_main(arguments, files)
        self.check("the exit code and the lines on stderr", (got, lines), (code, err))
        return self.report_in(out)

    def report_in(self, out):
        """Return the report on stdout, or None without one. What your functions print before it does not count."""
        start = out.find('{\n  "schema_version"')
        return json.loads(out[start:]) if start >= 0 else None

    def test_c1_c4_command_line_measures_and_gates(self):
        """C1 stdout is the report and nothing else; stderr has a line for each sample, and then the sum.
        C2 The exit code is 0 when pass@1 reaches --min-pass, and 1 below it.
        C3 A wrong option, suite or baseline gives exit code 2 and one line, before anything runs.
        C4 Each task that passes less often than in the baseline gives a line, and exit code 1.

        Hint: This test runs main over your functions. Run python starter/eval_harness.py scenario/eval_harness
        yourself, and once more with --candidate noop: are the lines as TASK.md C1 says?
        """
        files = self.suite()
        status = lambda word: [
            f"{name} 1/1: {said}: " for name, said in zip((self.FIRST, self.SECOND, self.THIRD), word)
        ]
        lines = lambda words, total: [*map(Containing, status(words)), total]
        good, bad = ("pass", "pass", "fail"), ("fail", "fail", "fail")
        found = None
        with self.subTest(clause="C1", because="the known fix of the third task does not pass its verifier"):
            found = self.check_run(
                ["suite"], files, 0, lines(good, "pass@1=0.666667 passes=2/3 errors=0 min_pass=0.0")
            )
            self.check("the report is on stdout", found is not None, True)
            tasks = [
                (task["task_id"], task["passes"], task["details"][0]["success_self_reported"])
                for task in found["tasks"]
            ]
            self.check(
                "the tasks of the report",
                tasks,
                [(self.FIRST, 1, True), (self.SECOND, 1, True), (self.THIRD, 0, True)],
            )
            self.check(
                "its totals",
                [found["totals"][name] for name in ("tasks", "pass_at_1", "samples", "passes")],
                [3, 0.666667, 3, 2],
            )
        with self.subTest(clause="C1", because="two samples of each task, and a candidate that does nothing"):
            code, out, err = self.run_main(
                ["suite", "--candidate", "noop", "--samples", "2", "--k", "2,1", "--jobs", "2"], files, "ascii"
            )
            self.check("the exit code", code, 0)
            total = "pass@1=0.0 passes=0/6 errors=0 min_pass=0.0"
            self.check("the last line on stderr", err[-1:], [total])
            self.check(
                "the lines of the samples",
                [line.split(": ")[0] for line in err[:-1]],
                [f"{name} {number}/2" for name in (self.FIRST, self.SECOND, self.THIRD) for number in (1, 2)],
            )
            self.check("pass_at_k", self.report_in(out)["totals"]["pass_at_k"], {"1": 0.0, "2": 0.0})
        for rate, code in (("0.666667", 0), ("0.7", 1), ("1", 1), ("0", 0)):
            with self.subTest(clause="C2", because=f"0.666667 is compared with {rate}"):
                total = f"pass@1=0.666667 passes=2/3 errors=0 min_pass={float(rate)}"
                self.check_run(["suite", "--min-pass", rate], files, code, lines(good, total))
        base = {**files, "base.json": json.dumps(found)}
        with self.subTest(clause="C4", because="the candidate that does nothing passes less often than the known fix"):
            total = "pass@1=0.0 passes=0/3 errors=0 min_pass=0.0"
            worse = [f"regressed: {name}" for name in (self.FIRST, self.SECOND)]
            self.check_run(
                ["suite", "--candidate", "noop", "--baseline", "base.json"], base, 1, [*lines(bad, total), *worse]
            )
        with self.subTest(clause="C4", because="nothing got worse"):
            total = "pass@1=0.666667 passes=2/3 errors=0 min_pass=0.0"
            self.check_run(["suite", "--baseline", "base.json", "--out", "new.json"], base, 0, lines(good, total))
        changed = {**base, **self.suite(goal=GREEN)}
        broken = [
            ([], files, "scenario", "no folder is named"),
            (["nowhere"], files, "nowhere", "no such folder"),
            (["suite", "--samples", "0"], files, "--samples", "no sample is taken"),
            (["suite", "--samples", "2", "--k", "1,3"], files, "--k", "pass@3 of two samples cannot be told"),
            (["suite", "--jobs", "two"], files, "--jobs", "a word is not a number"),
            (["suite", "--timeout", "0"], files, "--timeout", "no time at all"),
            (["suite", "--min-pass", "nan"], files, "--min-pass", "nan is not a number from 0 to 1"),
            (["suite", "--candidate", "no-such-agent --now"], files, "--candidate", "no such agent"),
            (["suite"], self.suite(goal="  "), "goal", "a blank goal asks for nothing"),
            (["suite"], self.suite(editable=["../door.py"]), "editable", "a path that leaves the folder"),
            (["suite"], {**files, f"suite/tasks/{IDS[0]}/task.json": "{}"}, IDS[0], "a folder that is not listed"),
            (["suite", "--baseline", "base.json"], changed, "suite_sha256", "the baseline is of another suite"),
            (
                ["suite", "--baseline", "base.json", "--samples", "2"],
                base,
                "samples",
                "the baseline has fewer samples",
            ),
            (["suite", "--baseline", "suite/suite.json"], files, "suite.json", "the baseline is not a report"),
        ]
        for arguments, given, named, because in broken:
            with self.subTest(clause="C3", because=because):
                self.check("the report", self.check_run(arguments, given, 2, [Containing(named)]), None)


if __name__ == "__main__":
    unittest.main()
