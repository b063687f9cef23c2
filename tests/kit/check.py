"""Checks one lab for its author, in about half a minute: python tests/kit/check.py NAME

It looks at all that a lab is held to: the files, the tests as the grader uses them, the documents, the starter, and the
submissions of right/, trivial/ and wrong/. Each fault is one line, and the line below it says what to run next.
`check.py NAME TEXT` grades only the wrong submissions whose row has TEXT in it, and shows how each is refused.
"""

import itertools
import os
import re
import sys
import time

import check_documents
import check_source
import frame
import table
from check_source import Fault
from kit import LABS, clauses_of, pool, solution_of
from make_starter import functions_to_write, made_files

RIGHT_AT_LEAST = 5  # solutions of each lab, in different styles
TESTS_THAT_REFUSE = 4  # at most, with the data as it is written: the one that states the clause, and three others
SEEDS = (0, 1, 27182)  # the data of the tests is renamed by the seed, and nothing else may change
WRONG_SEEDS = 20  # seeds.py tries each wrong submission at so many
TRIVIAL = {  # of every lab; what is special to one lab is in trivial/LAB/
    "raises ValueError": "raise ValueError('no')",
    "is not written yet": "raise NotImplementedError('write it')",
    "ends the process": "raise SystemExit(0)",
    "returns None": "return None",
    "returns its first argument": "return args[0]",
    "returns all its arguments": "return args, options",
    "returns an empty dict": "return {}",
    "returns True": "return True",
    "returns what does not cross": "return object()",
    "returns two that do not cross": "return object(), object()",
}
OF_A_TEST = re.compile(r"[A-Z]\w*Error: ")  # how the reason begins where a test has raised this itself


def not_passed(marks):
    return [mark for mark in marks if mark.verdict != "passed"]


def failure_line(mark):
    """Return why a test did not pass, in one line."""
    if not mark.failures:
        return f"{mark.name}: {mark.verdict}"
    failure = mark.failures[0]
    why = failure.reason or f"expected {failure.expected}, got {failure.got}"
    return f"{mark.name}: {failure.call or 'no call'}: {why}"


# ---- the checks: each yields the faults of one lab


def check_starter(lab, workers):
    """The starter is in step with the solution, and passes no test."""
    for path, text in made_files().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield Fault(f"{path.name} is out of step with solution/ and tests/", "python tests/kit/make_starter.py")
    passed = [mark.name for mark in frame.graded(lab, check_source.starter_of(lab)) if mark.verdict == "passed"]
    if passed:
        said = f"the starter passes {', '.join(passed)}: such a test asks for nothing"
        yield Fault(said, f"python verify.py starter/{lab}.py")


def check_right(lab, workers):
    """Every right solution passes all tests in a worker, and at each seed here; the solution is the first of them."""
    files = frame.parts("right", lab)
    if len(files) < RIGHT_AT_LEAST:
        yield Fault(
            f"right/{lab}/ has {len(files)} solutions: write {RIGHT_AT_LEAST} in different styles, "
            "each free where the contract is free", f"python tests/kit/check.py {lab}",
        )
    texts = {f"solution/{lab}.py": solution_of(lab)}
    texts.update((f"tests/kit/right/{lab}/{path.name}", frame.framed_file(lab, path)) for path in files)
    labs = [lab] * len(texts)
    runs = {"in a worker": workers.map(frame.graded, labs, texts.values())}
    for seed in SEEDS:
        seeds = [seed] * len(texts)
        runs[f"in one process at seed {seed}"] = workers.map(frame.graded_here, labs, texts.values(), seeds)
    for where, results in runs.items():
        for name, marks in zip(texts, results):
            for mark in not_passed(marks):
                yield Fault(f"{name} is right and fails {where}: {failure_line(mark)}", f"python verify.py {name}")


def trivial_of(lab):
    """Return {what it does: the submission} of all that may pass no test of the lab."""
    functions = functions_to_write(lab)
    parts = {
        what: "\n\n".join(f"def {name}(*args, **options):\n    {body}\n" for name in functions)
        for what, body in TRIVIAL.items()
    }
    made = {what: frame.framed(lab, part) for what, part in parts.items()}
    made.update((f"trivial/{lab}/{path.name}", frame.framed_file(lab, path)) for path in frame.parts("trivial", lab))
    return made


def check_trivial(lab, workers):
    """What always refuses, always gives one answer or does nothing passes no test,
    and each test says what it had expected.
    """
    made = trivial_of(lab)
    for what, marks in zip(made, workers.map(frame.graded, [lab] * len(made), made.values())):
        for mark in marks:
            if mark.verdict == "passed":
                yield Fault(
                    f"a submission that {what} passes {mark.name}: a test both accepts and refuses something",
                    f"python tests/kit/check.py {lab}",
                )
            for reason in own_errors(mark):
                said = f"{mark.name} ends in an error of its own where a submission {what}: {reason}"
                yield Fault(
                    f"{said}: check what a row gave before the test uses it", f"python tests/kit/check.py {lab}"
                )


def own_errors(mark):
    """Return the exceptions, as texts, that a test has raised itself: no line of the submission had a part in them."""
    reasons = [failure.reason for failure in mark.failures if failure.reason and failure.place is None]
    return list(filter(OF_A_TEST.match, reasons))


def wrong_of(lab):
    """Return [(row, the whole submission)] of the lab's table and of its files; TableError names what is at fault."""
    made = table.wrong_of(lab)
    for path in frame.parts("wrong", lab):
        clause, _, mistake = frame.title(path).partition(": ")
        made.append((table.Row(f"wrong/{lab}/{path.name}", clause, mistake), frame.framed_file(lab, path)))
    return made


def check_wrong(lab, workers):
    """Every wrong submission is refused by a test of its clause, and each clause has one."""
    made = wrong_of(lab)
    broken = {row.clause for row, _ in made}
    unbroken = [clause for clause in clauses_of(lab) if clause not in broken]
    if unbroken:
        yield Fault(f"no wrong submission breaks {', '.join(unbroken)}", f"edit tests/kit/wrong/{lab}.txt")
    made = made[:: int(os.environ.get("KIT_WRONG_STEP", 1))]  # more than 1 where another Python tries them all
    yield from refusal_faults(lab, made, workers.map(frame.graded_here, [lab] * len(made), texts_of(made), chunksize=4))


def check_wrong_at_seeds(lab, workers):
    """With other data a wrong submission is refused too: every fifth is tried, each at a seed of its own."""
    made = wrong_of(lab)[::5]
    seeds = itertools.cycle(range(1, WRONG_SEEDS))
    results = workers.map(frame.graded_here, [lab] * len(made), texts_of(made), seeds, chunksize=4)
    return refusal_faults(lab, made, results, most=None)


def check_wrong_in_worker(lab, workers):
    """In a worker a wrong submission is refused as it is here: every twentieth is tried."""
    made = wrong_of(lab)[::20]
    return refusal_faults(lab, made, workers.map(frame.graded, [lab] * len(made), texts_of(made)))


def texts_of(made):
    return [text for _, text in made]


def refusal_faults(lab, made, results, most=TESTS_THAT_REFUSE):
    """Yield the faults of how wrong submissions were refused; results are their marks."""
    for (row, _), marks in zip(made, results):
        said = complaint(row.clause, marks, most)
        if said:
            yield Fault(f"{row}: {said}", f"python tests/kit/check.py {lab} {row.place.split(', ')[-1]!r}")


def complaint(clause, marks, most=TESTS_THAT_REFUSE):
    """Return what is wrong with the refusal of a submission that breaks this clause, or None.

    most: how many tests may refuse it, or None for any number.
    """
    refusing = not_passed(marks)
    names = ", ".join(mark.name for mark in refusing)
    stating = [mark for mark in refusing if clause in mark.sentences]
    if not stating:
        return f"no test that states {clause} refuses it; refused by: {names or 'none'}"
    if most and len(refusing) > most:
        return f"{len(refusing)} tests refuse it: {names}"
    row = refusing[0].failures[0]
    missing = [field for field in ("clause", "call", "expected", "got") if not getattr(row, field)]
    if missing:
        return f"the first failing row of {refusing[0].name} does not tell {', '.join(missing)}: {vars(row)}"
    if row.clause not in refusing[0].sentences:
        return f"the first failing row is of {row.clause}, and {refusing[0].name} does not state that"
    return None


FIRST = {"files": check_source.check_files, "tests": check_source.check_tests}  # without these the others say nothing
CHECKS = {
    "documents": check_documents.check_documents,
    "starter": check_starter,
    "right": check_right,
    "trivial": check_trivial,
    "wrong": check_wrong,
    "other seeds": check_wrong_at_seeds,
    "in a worker": check_wrong_in_worker,
}


def faults_of(check, lab, workers):
    """Return the faults that one of the checks finds in a lab; a row or a part that cannot be read is one."""
    try:
        return list(check(lab, workers))
    except (table.TableError, frame.FrameError) as error:
        return [Fault(str(error), f"python tests/kit/check.py {lab}")]


# ---- the command


def show_faults(lab):
    """Run all checks of a lab, print what each finds, and return the number of faults."""
    count, started = 0, time.monotonic()
    with pool() as workers:
        for name, check in {**FIRST, **CHECKS}.items():
            faults = faults_of(check, lab, workers)
            print(f"{name:<12}{'FAULT' if faults else 'ok'}", flush=True)
            for fault in faults:
                print(f"  {fault.text}\n    next: {fault.next}")
            count += len(faults)
            if count and name in FIRST:
                break
    print(f"{lab}: {count or 'no'} fault{'' if count == 1 else 's'} ({time.monotonic() - started:.1f} s)")
    return count


def show_wrong(lab, text):
    """Grade the wrong submissions whose row has this text, print how each is refused, and return how many faults."""
    chosen = [(row, made) for row, made in wrong_of(lab) if text in str(row)]
    faults = 0 if chosen else 1
    for row, made in chosen:
        marks = frame.graded_here(lab, made)
        said = complaint(row.clause, marks)
        faults += said is not None
        print(f"{row}\n  {said or 'refused as it should be'}")
        for mark in not_passed(marks):
            print(f"  {failure_line(mark)}")
    if not chosen:
        print(f"no row of wrong/{lab}.txt and no file of wrong/{lab}/ has {text!r} in it")
    return faults


def main(arguments):
    lab, *texts = arguments or [""]
    if lab not in LABS or len(texts) > 1:
        got = " ".join(arguments) or "nothing"
        print(f"check.py: expected a lab ({', '.join(LABS)}) and perhaps a text, got {got}", file=sys.stderr)
        return 2
    try:
        return 1 if (show_wrong(lab, *texts) if texts else show_faults(lab)) else 0
    except (table.TableError, frame.FrameError) as error:
        print(error)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
