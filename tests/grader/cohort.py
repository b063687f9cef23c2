"""Grades a class: side by side in processes, into one result."""

import collections
import contextlib
import datetime
import functools
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from grader.grading import grade, grade_nothing
from grader.guard import Guard
from grader.intake.forms import form_of
from grader.intake.handout import changed_parts, originals
from grader.intake.sources import Unreadable, read_sources
from grader.intake.targets import Submission
from grader.line.errors import Lost
from grader.line.process import NOT_STARTED, Workers, folder_prefix
from grader.line.processes import end_other_sessions, guard_this_process, remove_folder
from grader.line.session import Session
from grader.place import PlaceError, check_room, may_be_the_place
from grader.result import SCHEMA, functions_of
from grader.text import told_of

STOPPED_LIMIT = 5.0  # seconds without a result, after which processes that grade are told to go on
TERM_LIMIT = 5.0  # seconds that what runs may take after a SIGTERM: who sends it sends SIGKILL soon
END_LIMIT = 5.0  # seconds for a process that grades to end
MOST_JOBS = 61  # Windows waits for no more processes at once
CONTEXT = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")  # this process has no threads


# ---- one submission


def digest_of(sources):
    """Return the sha256 of a submission's content, {module: text}."""
    return hashlib.sha256(json.dumps(sources, sort_keys=True).encode("ascii")).hexdigest()


def kit_digest(lab):
    """Return the sha256 of the kit's code but for other labs' tests:
    a result that other code made is not taken over.
    """
    content = hashlib.sha256()
    tests = Path(__file__).resolve().parents[1]
    for path in [tests / "labtest.py", tests / f"test_{lab}.py", *sorted(Path(__file__).parent.rglob("*.py"))]:
        content.update(path.read_bytes())
    return content.hexdigest()


def grade_one(name, place, limits, lab, workers=None):
    """Return one submission's part of a result. Whatever goes wrong becomes its reason: nobody is left out.

    workers: where and how they are made; without them, as limits say.
    """
    try:
        if isinstance(place, str):  # why there is none
            return lost_entry(name, lab, place)
        report = grade(place, limits, lab, workers)
        edits = [] if report.load_failure else changed_parts(lab, report.sources[lab])
        return {
            **report.as_dict(name),
            "digest": digest_of(report.sources),
            "edits": edits,
            "form": own_form(report.sources.get(lab, ""), lab),
        }
    except OSError as error:
        return lost_entry(name, lab, f"{NOT_STARTED}: {error}")
    # a fault of this program, which costs no other a grade and is not told as the submission's
    except Exception as error:
        return lost_entry(name, lab, f"the grader has a fault, which it met here: {told_of(error)}")


def own_form(source, lab):
    """Return form_of a source; "" when nothing was written: everybody's hand-out is the same."""
    form = form_of(source)
    return "" if form == form_of_handout(lab) else form


@functools.lru_cache(maxsize=None)
def form_of_handout(lab):
    return form_of(originals()["starter"].get(f"{lab}.py", {"text": ""})["text"])


def lost_entry(name, lab, reason):
    return {**grade_nothing(name, lab, reason), "digest": "", "edits": [], "form": ""}


def taken_over(submissions, known, lab):
    """Return {number: entry} of the submissions that an earlier result has graded, with the same name and content.

    One that could not run then is graded again: the reason may have been the grader's own.
    """
    earlier = {(entry["name"], entry["digest"]): entry for entry in known if not entry["reason"]}
    taken = {}
    for number, each in enumerate(submissions if earlier else ()):
        try:
            entry = isinstance(each.place, Path) and earlier.get((each.name, digest_of(read_sources(each.place, lab))))
        except Unreadable:
            continue
        if entry:
            taken[number] = {**entry, "path": str(each.place), **told_by_the_place(each)}
    return taken


# ---- a class


def result_of_none(lab, limits, left_out, started, points):
    """Return the result of a class before it is graded: the kit is read before the first submission runs."""
    return {
        "schema": SCHEMA,
        "lab": lab,
        "kit": kit_digest(lab),
        "limits": limits.as_dict(),
        "seed": limits.seed,
        "complete": False,
        "missing": [],
        "left_out": list(left_out),
        "started": started.isoformat(timespec="seconds"),
        "seconds": 0.0,
        "tests": tests_as_dicts(lab),
        "points": points or functions_in(lab),
    }


def grade_class(
    submissions, limits, jobs, lab, known=(), left_out=(), progress=None, keep=None, stop=None, points=None
):
    """Grade a list of Submission (or the first fields of one) with that many processes;
    return the result, incomplete when stop was asked for in between.

    known: submissions of an earlier result. left_out: names that are not submissions, for the result.
    points: {function: points}, else one per test. progress(done, total) is called at the beginning and after each;
    keep(result), then keep(result, submission) for each that is graded, with what a kill must not lose.
    """
    submissions = [Submission(*each) for each in submissions]
    begun, started = time.monotonic(), datetime.datetime.now(datetime.timezone.utc)
    guard_this_process()
    result = result_of_none(lab, limits, left_out, started, points)
    graded = taken_over(submissions, known, lab)
    left = [(number, each.name, each.place) for number, each in enumerate(submissions) if number not in graded]
    progress, keep = progress or (lambda done, total: None), keep or (lambda result, submission=None: None)
    progress(0, len(left))
    keep({**result, "submissions": list(graded.values())})
    stop = stop or Stop()
    stop.taken = len(graded)
    try:
        for done, (number, entry) in enumerate(grade_all(left, limits, jobs, lab, stop), start=1):
            graded[number] = {**with_texts_of(result["tests"], entry), **told_by_the_place(submissions[number])}
            keep(result, graded[number])
            progress(done, len(left))
    except KeyboardInterrupt:  # the result says what is missing
        pass
    except (PlaceError, OSError) as error:
        stop.fault = str(error)
    missing = [each.name for number, each in enumerate(submissions) if number not in graded]
    seconds, in_order = round(time.monotonic() - begun, 3), [graded[number] for number in sorted(graded)]
    return {**result, "complete": not missing, "missing": missing, "seconds": seconds, "submissions": in_order}


def told_by_the_place(submission):
    """Return what a result says of a Submission that its grading does not know."""
    return {
        "id": submission.id,
        "late": submission.late,
        "notes": list(submission.notes),
        "export": submission.export,
        "attempt": submission.attempt,
    }


def functions_in(lab):
    """Return {function: number of its tests} of a lab."""
    return functions_of({"tests": tests_as_dicts(lab)})


def tests_as_dicts(lab):
    """Return what a result says of the lab's tests."""
    return [
        {field: mark[field] for field in ("name", "function", "title", "clauses")}
        for mark in grade_nothing("", lab)["marks"]
    ]


def with_texts_of(tests, entry):
    """Return a submission's part, its marks holding the texts of the tests themselves:
    a class keeps each of them once.
    """
    for mark, test in zip(entry["marks"], tests):
        mark.update(test)
    return entry


class Stop:
    """Hears Ctrl-C, SIGTERM and SIGHUP. After the first nothing new begins, and what runs is waited for.

    A second one raises KeyboardInterrupt, which drops what runs;
    TERM_LIMIT seconds after a SIGTERM or SIGHUP do so too.
    """

    asked = None  # the number of the first signal
    running = 0  # how many submissions are being graded
    fault = None  # of the place: why nobody else could be graded
    taken = 0  # how many submissions were taken over from an earlier result
    tell = None  # a function that takes the names of those that are waited for, or None

    def __enter__(self):
        self.before = {}
        names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a shell's background job
                self.before[number] = signal.signal(number, self.hear)
        return self

    def __exit__(self, *_):
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def stands_still(self, names):
        """Say for whom is waited: there was no result for STOPPED_LIMIT seconds."""
        if self.tell:
            self.tell(names)

    def hear(self, number, frame):
        if self.asked is not None:
            raise KeyboardInterrupt
        self.asked = number
        if number == signal.SIGINT:
            text = f"\nStopping: waiting for {self.running}. Ctrl-C again drops them.\n"
        else:
            text = f"\nStopping: waiting {TERM_LIMIT:g} s for {self.running}.\n"
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_REAL, TERM_LIMIT)
        if self.running:
            with contextlib.suppress(OSError):  # nobody reads it any more
                os.write(2, text.encode("ascii"))


# ---- side by side


def grade_all(submissions, limits, jobs, lab, stop):
    """Yield (number, entry) of [(number, name, place)] as they are done.
    One alone is graded here, more of them in processes.

    PlaceError when what fails is the place. Who may have failed for what others did is graded again, alone, at the end.
    """
    elsewhere = bool(limits.prefix)
    if len(submissions) < 2:
        for number, name, place in submissions:
            stop.running = 1
            entry = grade_one(name, place, limits, lab)
            if may_be_the_place(entry, elsewhere):
                check_room()
            yield number, entry
        return
    again = []
    for submission, entry in grade_in_processes(submissions, limits, min(jobs, len(submissions), MOST_JOBS), lab, stop):
        if entry is None or may_be_the_place(entry, elsewhere):
            again.append(submission)
        else:
            yield submission[0], entry
    for submission, entry in grade_in_processes(again, limits, 1, lab, stop):  # this verdict counts
        if entry is None or may_be_the_place(entry, elsewhere):
            check_room()
        yield submission[0], entry or lost_entry(submission[1], lab, "it ended the process that grades it")


def grade_in_processes(submissions, limits, jobs, lab, stop):
    """Yield (submission, entry) as they are done; None for the entry when the process that graded it was ended.

    When it closes, nothing is left of what the processes started or wrote, however they ended.
    """
    waiting, free, busy = collections.deque(submissions), [], {}
    cores = collections.deque(cores_for(jobs, limits))
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs and stop.asked is None:
                cores.rotate()
                grader = free.pop() if free else Grader(limits, lab, cores[0], busy.values())
                grader.give(waiting.popleft())
                busy[grader.line] = grader
            stop.running = len(busy)
            if not busy:
                return
            ready = multiprocessing.connection.wait(busy, STOPPED_LIMIT)
            for grader in busy.values() if not ready else ():
                grader.wake()
            if not ready:
                stop.stands_still([grader.submission[1] for grader in busy.values()])
            for line in ready:
                grader = busy.pop(line)
                submission, entry = grader.take()
                if entry is None:
                    grader.end()
                    end_other_sessions()  # what it graded, which is this process's child now
                else:
                    free.append(grader)
                yield submission, entry
    finally:
        for grader in busy.values():
            grader.drop()
        for grader in [*free, *busy.values()]:
            grader.end()
        end_other_sessions()
        for folder in Path(tempfile.gettempdir()).glob(f"{folder_prefix(os.getpid())}*"):
            remove_folder(folder)


def cores_for(jobs, limits):
    """Return a core for each process that grades where they use all cores anyway, or [None] for any (Linux only).

    A process and its worker take turns; kept on one core, they lose less time at each turn.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return cores if not limits.prefix and 2 <= len(cores) <= jobs else [None]


class Grader:
    """A process that grades one submission at a time, so that what one does to its grader costs no other a grade."""

    def __init__(self, limits, lab, core, others):
        """core: the one that it is kept on, or None; others: the Graders that there are."""
        self.line, far = CONTEXT.Pipe()
        inherited = [self.line, *(other.line for other in others)] if CONTEXT.get_start_method() == "fork" else []
        self.process = CONTEXT.Process(target=serve, args=(far, inherited, limits, lab, os.getpid(), core), daemon=True)
        self.process.start()
        far.close()
        self.submission = None

    def give(self, submission):
        self.submission = submission
        with contextlib.suppress(OSError):  # it has ended, which take() finds out
            self.line.send(submission[1:])

    def take(self):
        """Return (submission, entry), the entry None when the process has ended."""
        submission, self.submission = self.submission, None
        try:
            return submission, self.line.recv()
        except (EOFError, OSError):
            return submission, None

    def wake(self):
        """Tell the process to go on: a submission may have stopped it, and a stopped process does not even end."""
        if os.name != "nt" and self.process.is_alive():
            os.kill(self.process.pid, signal.SIGCONT)

    def drop(self):
        """End the process and the submission that it grades."""
        self.process.terminate()
        self.wake()

    def end(self):
        """Wait until the process has ended, which it does when its line closes."""
        self.line.close()
        self.process.join(END_LIMIT)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(END_LIMIT)


def serve(line, inherited, limits, lab, owner, core):
    """Grade what comes over the line until it closes: the life of a Grader's process.

    Signals are the first process's to answer;
    who ends this one ends what it has started, and so does the first one's end.
    """
    workers = Workers(limits, owner)
    leave_now = functools.partial(leave, workers)
    if os.name != "nt":
        os.setpgid(0, 0)  # what a terminal or a scheduler sends goes to the first process alone
        signal.signal(signal.SIGHUP, leave_now)
    signal.signal(signal.SIGTERM, leave_now)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Guard.leave_to_parent()
    for near in inherited:  # open here, they would keep lines from closing
        near.close()
    threading.Thread(target=leave_with, args=[multiprocessing.parent_process().sentinel], daemon=True).start()
    if core is not None:
        with contextlib.suppress(OSError):  # a core can be taken away; then any will do
            os.sched_setaffinity(0, {core})
    workers.use_template()
    while True:
        try:
            name, place = line.recv()
        except EOFError:
            leave_now()
        line.send(grade_one(name, place, limits, lab, workers))


def leave_with(sentinel):
    """Leave when the first process is gone, however it went."""
    multiprocessing.connection.wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)  # the main thread knows what there is to end


def leave(workers, *_):
    """End this process and the submission that it grades."""
    try:
        workers.end()
    finally:
        os._exit(0)


def look_at_place(limits, lab):
    """Return (why no submission can run where limits say, or None; what for one is closed in there).

    It is asked before a whole class gets 0 for a fault of the place.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{lab}.py")
        path.write_text("pass\n", encoding="utf-8")
        with Session(path, limits, lab) as session:
            try:
                session.ready()
            except Lost as error:
                return str(error), []
            return None, session.closed_in
