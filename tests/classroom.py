"""Grades a class: finds the submissions, grades them side by side in processes, and gathers one result."""

import concurrent.futures
import datetime
import hashlib
import os
import re
import signal
import sys
import time
import unicodedata
from pathlib import Path

from grading import PASSED, WAITING, grade, grade_tests
from handout import changed_parts
from screen import escape, progress_bar
from submission import Lost, module_name

SCHEMA = 1
FOLDERS = (".", "starter")  # where in a submission's folder the file may lie
IGNORED = re.compile(r"[._]|node_modules$")
RESUBMITTED = re.compile(r"-\d+$")  # a learning platform adds -1, -2 to a file that was sent again


# ---- finding


def find_in_folder(folder, lab):
    """Return the lab's file in a submission's folder, or None."""
    return next((path for path in (folder / place / f"{lab}.py" for place in FOLDERS) if path.is_file()), None)


def find_submissions(target, lab):
    """Return [(name, path)] of the submissions in a folder, in the order of names; path is None where a folder holds none."""
    found = []
    for entry in target.iterdir():
        if IGNORED.match(entry.name):
            continue
        if entry.is_dir():
            found.append((entry.name, find_in_folder(entry, lab) or next(iter(sorted(entry.rglob(f"{lab}.py"))), None)))
        elif entry.suffix == ".py" and RESUBMITTED.sub("", entry.stem).endswith(lab):
            found.append((entry.stem, entry))
    return sorted(found, key=lambda pair: (pair[0].casefold(), pair[0]))


# ---- grading


def digest_of(path):
    """Return the sha256 of a submission's content: of its file and the Python files beside it, when they belong to it."""
    content = hashlib.sha256()
    files = sorted(path.parent.glob("*.py")) if path.stem == module_name(path) else [path]
    for file in files:
        if file.is_file():
            content.update(file.name.encode("utf-8", "surrogateescape") + b"\0" + file.read_bytes() + b"\0")
    return content.hexdigest()


def kit_digest(lab):
    """Return the sha256 of what decides about a verdict: a result made by other tests is not taken over."""
    content = hashlib.sha256()
    for name in (f"test_{lab}.py", "labtest.py", "grading.py", "submission.py", "worker.py", "processes.py"):
        content.update(Path(__file__).with_name(name).read_bytes())
    return content.hexdigest()


def grade_one(name, path, limits):
    """Return one submission's part of a result. Whatever goes wrong becomes its reason: nobody is left out."""
    if path is None:
        return {**grade_tests(name, Lost("no ticket_triage.py is in this folder")), "digest": "", "edits": []}
    report = grade(path, limits)
    edits = [] if report.load_failure else changed_parts(report.lab, report.sources.get(report.lab, ""))
    return {**report.as_dict(name), "digest": digest_of(path), "edits": edits}


def ignore_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the first process's to answer


def grade_class(submissions, limits, jobs, known=(), progress=None):
    """Grade [(name, path)] with that many processes; return the result, incomplete when Ctrl-C came in between.

    known: submissions of an earlier result; one with the same name and content is taken over.
    progress(done, total) is called after each.
    """
    lab = next((module_name(path) for _, path in submissions if path), "ticket_triage")
    earlier = {(entry["name"], entry["digest"]): entry for entry in known}
    graded = {}
    for name, path in submissions:
        entry = path and earlier.get((name, digest_of(path)))
        if entry:
            graded[name] = entry
    left = [(name, path) for name, path in submissions if name not in graded]
    begun, started = time.monotonic(), datetime.datetime.now(datetime.timezone.utc)
    if jobs == 1 or len(left) < 2:
        outcomes = ((name, grade_one(name, path, limits)) for name, path in left)
    else:
        outcomes = grade_side_by_side(left, limits, min(jobs, len(left)))
    try:
        for name, entry in outcomes:
            graded[name] = entry
            if progress:
                progress(len(graded), len(submissions))
    except KeyboardInterrupt:
        pass  # the result says what is missing
    finally:
        outcomes.close()
    missing = [name for name, _ in submissions if name not in graded]
    return {
        "schema": SCHEMA, "lab": lab, "kit": kit_digest(lab), "complete": not missing, "missing": missing,
        "started": started.isoformat(timespec="seconds"), "seconds": round(time.monotonic() - begun, 3),
        "tests": [{field: mark[field] for field in ("name", "function", "title", "clauses")} for mark in grade_tests("", None)["marks"]],
        "submissions": [graded[name] for name, _ in submissions if name in graded],
    }


def grade_side_by_side(submissions, limits, jobs):
    """Yield (name, entry) as they are done. At most two a process wait, so memory does not grow with the class."""
    waiting, running = iter(submissions), {}
    with concurrent.futures.ProcessPoolExecutor(jobs, initializer=ignore_interrupts) as pool:
        try:
            while True:
                while len(running) < 2 * jobs:
                    name, path = next(waiting, (None, None))
                    if name is None:
                        break
                    running[pool.submit(grade_one, name, path, limits)] = name
                if not running:
                    return
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


# ---- showing


class Progress:
    """A line on stderr with a bar, the rate and the time left; only on a terminal, and only when it takes a while."""

    def __init__(self, what, patience=0.0):
        self.stream, self.what = sys.stderr, what
        self.begun = time.monotonic()
        self.patience = patience if self.stream.isatty() else float("inf")

    def __call__(self, done, total):
        if time.monotonic() - self.begun < self.patience:
            return
        rate = done / max(time.monotonic() - self.begun, 1e-6)
        left = (total - done) / rate
        self.stream.write(f"\r{progress_bar(done, total)}  {rate:.1f} {self.what} a second, {left:.0f} s left   ")
        if done == total:
            self.stream.write("\r" + " " * 78 + "\r")
        self.stream.flush()


def width_of(text):
    """Return the columns that a text takes on a terminal: Chinese characters take two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)


def class_lines(result, screen):
    """Return a row a submission in the order of names, the total, and the clauses that fail most."""
    names = {entry["name"]: escape(entry["name"]) for entry in result["submissions"]}
    width = min(40, max(map(width_of, names.values()), default=0))
    lines = []
    for entry in result["submissions"]:
        groups = dict.fromkeys(mark["function"] for mark in entry["marks"])
        marks = ["".join(screen.mark(mark["verdict"]) for mark in entry["marks"] if mark["function"] == group) for group in groups]
        name = names[entry["name"]]
        remark = entry["reason"] or entry["first_failing"] or ""
        edited = f"  (changed what is provided: {len(entry['edits'])})" if entry["edits"] else ""
        row = f"{name}{' ' * (width - width_of(name))}  {entry['passed']:>2} of {entry['total']}  {' '.join(marks)}  {escape(remark)}{edited}"
        lines.append(row.rstrip())
    return lines + ["", *total_lines(result)]


def total_lines(result):
    """Return the total line, which clauses the class fails most, and what is missing."""
    entries = result["submissions"]
    passed = [entry["passed"] for entry in entries]
    complete = sum(entry["passed"] == entry["total"] for entry in entries)
    mean = sum(passed) / len(passed) if passed else 0.0
    lines = [f"{len(entries)} submissions, {complete} with all {len(result['tests'])}, mean {mean:.1f} of {len(result['tests'])}"]
    failing = {}
    for entry in entries:
        for mark in entry["marks"]:
            if mark["verdict"] not in (PASSED, WAITING) and mark["failure"] and not entry["reason"]:
                clause = mark["failure"]["clause"]
                failing[clause] = failing.get(clause, 0) + 1
    if failing:
        most = sorted(failing.items(), key=lambda pair: -pair[1])[:5]
        lines.append("Clauses that fail most: " + ", ".join(f"{clause} ({count})" for clause, count in most))
    if result["missing"]:
        shown = ", ".join(map(escape, result["missing"][:5])) + (", ..." if len(result["missing"]) > 5 else "")
        lines.append(f"Not graded: {len(result['missing'])} ({shown})")
    return lines
