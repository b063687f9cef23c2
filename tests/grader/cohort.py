"""Grades a class: side by side in processes, into one result, and shows it."""

import concurrent.futures
import contextlib
import datetime
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from grader.grading import grade, grade_nothing
from grader.intake.handout import changed_parts
from grader.line.processes import end_other_sessions, guard_this_process, remove_folder
from grader.reports.reports import LEFT_OUT, SCHEMA, clauses_that_fail
from grader.screen.screen import fold, visible, width_of
from grader.intake.sources import Lost, read_sources
from grader.line.session import NOT_STARTED, Session, folder_prefix, use_template

NAME_WIDTH = 40  # columns of a name in the table
STOPPED_LIMIT = 5.0  # seconds without a result, after which processes of the pool are told to go on
MOST_JOBS = 61  # Windows waits for no more processes at once


# ---- grading


def digest_of(sources):
    """Return the sha256 of a submission's content, {module: text}."""
    return hashlib.sha256(json.dumps(sources, sort_keys=True).encode("ascii")).hexdigest()


def kit_digest(lab):
    """Return the sha256 of the kit's code but for other labs' tests: a result that other code made is not taken over."""
    content = hashlib.sha256()
    tests = Path(__file__).resolve().parents[1]
    for path in [tests / "labtest.py", tests / "labdata.py", tests / f"test_{lab}.py", *sorted(Path(__file__).parent.rglob("*.py"))]:
        content.update(path.read_bytes())
    return content.hexdigest()


def grade_one(name, place, limits, lab):
    """Return one submission's part of a result. Whatever goes wrong becomes its reason: nobody is left out."""
    try:
        if isinstance(place, str):  # why there is no file
            raise Lost(place)
        report = grade(place, limits, lab)
        edits = [] if report.load_failure else changed_parts(lab, report.sources[lab])
        return {**report.as_dict(name), "digest": digest_of(report.sources), "edits": edits}
    except Lost as error:
        return lost_entry(name, lab, str(error))
    except OSError as error:
        return lost_entry(name, lab, f"{NOT_STARTED}: {error}")


def lost_entry(name, lab, reason):
    return {**grade_nothing(name, lab, reason), "digest": "", "edits": []}


def taken_over(submissions, known, lab):
    """Return {number: entry} of the submissions that an earlier result has graded, with the same name and content.

    One that could not run then is graded again: the reason may have been the grader's own.
    """
    earlier = {(entry["name"], entry["digest"]): entry for entry in known if not entry["reason"]}
    taken = {}
    for number, (name, place) in enumerate(submissions if earlier else ()):
        try:
            entry = isinstance(place, Path) and earlier.get((name, digest_of(read_sources(place, lab))))
        except Lost:
            continue
        if entry:
            taken[number] = {**entry, "path": str(place)}
    return taken


def grade_class(submissions, limits, jobs, lab, known=(), left_out=(), progress=None):
    """Grade [(name, place)] with that many processes; return the result, incomplete when Ctrl-C came in between.

    known: submissions of an earlier result. left_out: names that are no submissions, for the result.
    progress(done, total) is called at the beginning and after each.
    """
    begun, started = time.monotonic(), datetime.datetime.now(datetime.timezone.utc)
    guard_this_process()
    kit, tests = kit_digest(lab), tests_as_dicts(lab)  # before the first submission runs
    graded = taken_over(submissions, known, lab)
    left = [(number, *submission) for number, submission in enumerate(submissions) if number not in graded]
    progress = progress or (lambda done, total: None)
    progress(0, len(left))
    try:
        for done, (number, entry) in enumerate(grade_side_by_side(left, limits, min(jobs, len(left), MOST_JOBS), lab), start=1):
            graded[number] = with_texts_of(tests, entry)
            progress(done, len(left))
    except KeyboardInterrupt:
        pass  # the result says what is missing
    missing = [name for number, (name, _) in enumerate(submissions) if number not in graded]
    return {
        "schema": SCHEMA, "lab": lab, "kit": kit, "limits": limits.as_dict(), "complete": not missing, "missing": missing, "left_out": list(left_out),
        "started": started.isoformat(timespec="seconds"), "seconds": round(time.monotonic() - begun, 3),
        "tests": tests, "submissions": [graded[number] for number in sorted(graded)],
    }


def tests_as_dicts(lab):
    """Return what a result says of the lab's tests."""
    return [{field: mark[field] for field in ("name", "function", "title", "clauses")} for mark in grade_nothing("", lab)["marks"]]


def with_texts_of(tests, entry):
    """Return a submission's part, its marks holding the texts of the tests themselves: a class keeps each of them once."""
    for mark, test in zip(entry["marks"], tests):
        mark.update(test)
    return entry


def cores_for(jobs, limits):
    """Return a queue with a core for each process of a pool that uses all cores anyway, or None (Linux only).

    A process and its worker take turns; kept on one core, they lose less time at each turn.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if limits.prefix or len(cores) < 2 or jobs < len(cores):
        return None
    queue = multiprocessing.SimpleQueue()
    for number in range(jobs):
        queue.put(cores[number % len(cores)])
    return queue


@contextlib.contextmanager
def pool_of(jobs, limits):
    """Give a pool of processes. When it closes, nothing is left of what they started or wrote, however they ended."""
    arguments = [limits, os.getpid(), cores_for(jobs, limits)]
    try:
        with concurrent.futures.ProcessPoolExecutor(jobs, initializer=start_process, initargs=arguments) as pool:
            yield pool
    finally:
        end_other_sessions()
        for folder in Path(tempfile.gettempdir()).glob(f"{folder_prefix(os.getpid())}*"):
            remove_folder(folder)


def start_process(limits, owner, cores):
    """Begin a process of the pool: Ctrl-C is the first process's to answer, and who is ended ends what it started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    Session.owner = owner
    if cores is not None:
        with contextlib.suppress(OSError):  # a core can be taken away; then any will do
            os.sched_setaffinity(0, {cores.get()})
    use_template(limits)


def leave(*_):
    """End this process of the pool and its submission. An exception does not do: the pool keeps it as a result."""
    try:
        if Session.current is not None:
            Session.current.end()
    finally:
        os._exit(1)


def grade_side_by_side(submissions, limits, jobs, lab):
    """Yield (number, entry) of [(number, name, place)] as they are done. One alone is graded here, more of them in processes.

    After Ctrl-C nothing new is begun, and what runs is waited for; after a second one it is ended.
    """
    if len(submissions) < 2:
        for number, name, place in submissions:
            yield number, grade_one(name, place, limits, lab)
        return
    waiting, again = list(reversed(submissions)), []
    while waiting:
        running = {}
        with pool_of(jobs, limits) as pool:
            try:
                for submission, entry in grade_in_pool(pool, waiting, running, limits, jobs, lab):
                    if (entry["reason"] or "").startswith(NOT_STARTED):  # for want of processes, say
                        again.append(submission)
                    else:
                        yield submission[0], entry
            except BrokenProcessPool:  # a submission has ended the process that grades it, and others with it
                wake_processes()
            except KeyboardInterrupt:
                for process in multiprocessing.active_children():
                    process.terminate()
                wake_processes()
                raise
        again += running.values()
    for submission in again:
        yield submission[0], grade_apart(submission, limits, lab)


def grade_in_pool(pool, waiting, running, limits, jobs, lab):
    """Yield (submission, entry), taking them from the end of waiting; running leads from a future to its submission."""
    while waiting or running:
        while waiting and len(running) < jobs:  # no more, so memory does not grow with the class
            number, name, place = waiting.pop()
            running[pool.submit(grade_one, name, place, limits, lab)] = (number, name, place)
        try:
            done, _ = concurrent.futures.wait(running, STOPPED_LIMIT, concurrent.futures.FIRST_COMPLETED)
        except KeyboardInterrupt:
            if not waiting:
                raise
            waiting.clear()
            print(f"\nStopping: waiting for {len(running)}. Ctrl-C again drops them.", file=sys.stderr)
            continue
        if not done:
            wake_processes()
        for future in done:
            entry = future.result()
            yield running.pop(future), entry


def wake_processes():
    """Tell the processes of the pool to go on: a submission may have stopped one, which then does not even end."""
    for process in multiprocessing.active_children() if os.name != "nt" else ():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)


def grade_apart(submission, limits, lab):
    """Grade one submission, (number, name, place), in a process that nothing else needs."""
    with pool_of(1, limits) as pool:
        try:
            return next(entry for _, entry in grade_in_pool(pool, [submission], {}, limits, 1, lab))
        except BrokenProcessPool:
            wake_processes()
            return lost_entry(submission[1], lab, "it ended the process that grades it")


def fault_of_place(limits, lab):
    """Return why the place that --exec or --python names cannot run a submission, or None: else a whole class would get 0."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{lab}.py")
        path.write_text("pass\n", encoding="utf-8")
        with Session(path, limits, lab) as session:
            try:
                session.ready()
            except Lost as error:
                return str(error)
    return None


# ---- showing


def class_lines(result, screen):
    """Return a row a submission in the order of names, the total, and the clauses that fail most."""
    names = {entry["name"]: fold(visible(entry["name"]), NAME_WIDTH)[0] for entry in result["submissions"]}
    width = max(map(width_of, names.values()), default=0)
    lines = []
    for entry in result["submissions"]:
        groups = dict.fromkeys(mark["function"] for mark in entry["marks"])
        marks = " ".join("".join(screen.mark(mark["verdict"]) for mark in entry["marks"] if mark["function"] == group) for group in groups)
        name = names[entry["name"]]
        edited = "changed what is provided" if entry["edits"] else ""
        remark = ", ".join(filter(None, [entry["reason"] or entry["first_failing"], edited]))
        start = f"{name}{' ' * (width - width_of(name))}  {entry['passed']:>2} of {entry['total']}  "
        room = screen.width - width_of(start) - len(entry["marks"]) - len(groups) - 1
        first, *more = fold(visible(remark), max(room, 20))
        lines.append(f"{start}{marks}  {first}".rstrip())
        lines += [" " * (screen.width - room) + line for line in more]
    return lines + ["", *total_lines(result)]


def total_lines(result):
    """Return the total line, which clauses the class fails most, and what is missing."""
    entries = result["submissions"]
    passed = [entry["passed"] for entry in entries]
    complete = sum(entry["passed"] == entry["total"] for entry in entries)
    mean = sum(passed) / len(passed) if passed else 0.0
    noun = "submission" if len(entries) == 1 else "submissions"
    lines = [f"{len(entries)} {noun}, {complete} with all {len(result['tests'])}, mean {mean:.1f} of {len(result['tests'])}"]
    most = clauses_that_fail(result)[:5]
    if most:
        lines.append("Clauses that fail most: " + ", ".join(f"{clause} ({count})" for clause, count in most))
    if result["missing"]:
        lines.append(f"Not graded: {len(result['missing'])} ({some(result['missing'])})")
    if result["left_out"]:
        lines.append(f"{LEFT_OUT}: {len(result['left_out'])} ({some(result['left_out'])})")
    return lines


def some(names):
    """Return the first few of the names as a text."""
    return ", ".join(map(visible, names[:5])) + (", ..." if len(names) > 5 else "")
