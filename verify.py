"""Grades a submission of a lab, or a class: `python verify.py starter`. Exit 0 when all tests pass.

A submission runs in a process of its own, with limits; no line of it runs here. tests/README.md says what that promises.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

KIT = Path(__file__).resolve().parent
sys.path.insert(0, str(KIT / "tests"))

from grader.intake.sources import LABS, MAIN_LAB, lab_of  # noqa: E402 - it stands in tests/
from grader.line.session import Limits, Session  # noqa: E402
from grader.intake.targets import UsageError, find_targets  # noqa: E402

PASSED, FAILED, USAGE_ERROR, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
FOR_ONE = ("watch", "hint", "all", "k", "q", "debug", "reset")  # options that a class or a report has no use for
REPORTS = {
    "json": "everything, for --resume and programs",
    "csv": "a row a submission, for a gradebook",
    "html": "a page to read",
    "junit": "JUnit XML, for GitLab, Jenkins and others",
    "gradescope": "results.json of one submission",
    "classroom": "the result of one submission, for GitHub Classroom's reporter",
}


class CommandLine(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def positive(text):
    """Return the number above 0 that an option gives."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return number


def whole(text):
    """Return the whole number of at least 1 that an option gives."""
    if not text.isdecimal() or not 0 < int(text) < 1_000_000:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text}")
    return int(text)


def command_line():
    parser = CommandLine(prog="verify.py", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("target", nargs="*", help="starter, solution, a file, a folder that holds one, or a folder of such folders or files")
    parser.add_argument("--lab", choices=LABS, help=f"which lab (default: the one that a file is named after, else {MAIN_LAB})")
    student = parser.add_argument_group("for students")
    student.add_argument("--watch", action="store_true", help="run again at each save")
    student.add_argument("--hint", action="store_true", help="add a hint to the first failing test")
    student.add_argument("--all", action="store_true", help="show every failure")
    student.add_argument("-k", metavar="PATTERN", default="", help="run a part: a clause, a function, or a part of a test's name")
    student.add_argument("-q", action="store_true", help="print one line")
    student.add_argument("--debug", action="store_true", help="run in this process, for breakpoint(); this is no grade")
    student.add_argument("--reset", action="store_true", help="put the original starter back; your file is kept as .bak")
    limits = parser.add_argument_group("where and how long a submission runs")
    limits.add_argument("--timeout", metavar="SECONDS", type=positive, default=5.0, help="time for each test (default 5)")
    limits.add_argument("--memory", metavar="MIB", type=whole, default=512, help="memory of a submission (default 512)")
    limits.add_argument("--exec", metavar="PREFIX", default="", help="put this command before the interpreter, e.g. docker run ...")
    limits.add_argument("--python", metavar="NAME", help="the interpreter that runs a submission")
    grading = parser.add_argument_group("for instructors")
    grading.add_argument("--jobs", metavar="N", type=whole, default=os.cpu_count() or 1, help="submissions side by side (default: the cores)")
    grading.add_argument("--resume", metavar="FILE", help="a result of --json: grade only what is new or changed")
    for name, what in REPORTS.items():
        grading.add_argument(f"--{name}", metavar="FILE", help=f"write {what}")
    grading.add_argument("--make-autograder", metavar="FILE.zip", help="write an autograder for Gradescope")
    return parser


# ---- one submission


def grade_alone(path, options, limits, progress=None):
    """Grade one submission with what a student is told besides; return its Report."""
    if options.debug:
        from grader.grading import grade_here

        return grade_here(path, options.k, options.lab)
    with Session(path, limits, options.lab) as session:  # the worker starts while the tests are imported
        from grader.grading import grade_session
        from grader.intake.handout import changed_files, changed_parts

        changed = changed_files() if KIT in path.resolve().parents else []  # looked up while the worker starts
        report = grade_session(session, options.k, progress)
    if not report.load_failure:
        report.notes = changed_parts(report.lab, report.sources[report.lab])
    report.notes += changed
    if report.notes:
        report.notes.append("TASK.md says what to leave as it is. --reset gives you the original file, and keeps yours.")
    return report


def show_alone(report, options, screen):
    from grader.screen.screen import count_line, report_lines

    if options.q:
        screen.show(screen.paragraph(f"{report.path.as_posix()}: {count_line(report)}"))
        return
    screen.show(report_lines(report, screen, options.all, options.hint))
    if options.debug:
        screen.show(["It ran in this process, for debugging and without a time limit: this is no grade."])


def grade_and_show(path, options, limits, screen):
    """Grade one submission and show it, at each save with --watch; return its last Report."""
    from grader.screen.screen import Progress, watch_lines

    if not options.watch:
        progress = Progress("tests", patience=1.0)
        report = grade_alone(path, options, limits, progress)
        progress.clear()
        if not report.marks:
            raise UsageError(f"-k {options.k}: no test has this in its name, function or clauses")
        show_alone(report, options, screen)
        return report
    from grader.screen.watch import watch

    def show(report, hint, every):
        screen.clear()
        screen.show(watch_lines(report, screen, every or options.all, hint or options.hint))

    return watch(path, lambda path: grade_alone(path, options, limits), show)


def reset(target, lab):
    from grader.intake.handout import reset

    path = Path(target)
    if not path.exists() and (KIT / target).exists():
        path = KIT / target
    if path.is_dir():
        if not (path / f"{lab}.py").exists() and path.resolve() != KIT / "starter":  # there it may have been deleted
            raise UsageError(f"--reset {path}: no {lab}.py is in this folder")
        path = path / f"{lab}.py"
    if path.resolve().parent == KIT / "solution":
        raise UsageError("--reset is for your own file, not for solution/")
    try:
        kept = reset(path)
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from error
    print(f"{path} is the original again" + (f"; what it was is in {kept}" if kept else ""))
    return PASSED


# ---- a class, and reports


def earlier_submissions(options, limits):
    """Return the submissions of the result that --resume names, when the same tests and limits made it."""
    if not options.resume:
        return []
    from grader.cohort import kit_digest
    from grader.reports.reports import read_result

    try:
        result = read_result(options.resume)
    except (ValueError, OSError) as error:
        raise UsageError(f"--resume {error}") from error
    made_by = (options.lab, kit_digest(options.lab), limits.as_dict())
    if (result["lab"], result.get("kit"), result.get("limits")) != made_by:
        print("--resume: another kit or other limits made that result, so all are graded again", file=sys.stderr)
        return []
    return result["submissions"]


def wanted_reports(options, submissions):
    """Return {name: path} of the reports to write; UsageError where one cannot be written, before anything is graded."""
    wanted = {name: getattr(options, name) for name in REPORTS if getattr(options, name) is not None}
    for name, path in wanted.items():
        if not path or list(wanted.values()).count(path) > 1 or path.endswith(".py"):
            raise UsageError(f"--{name} {path}: expected a file of its own, and no Python file")
        if not Path(path).resolve().parent.is_dir():
            raise UsageError(f"--{name} {path}: there is no folder for it")
        if Path(path).is_dir():
            raise UsageError(f"--{name} {path}: this is a folder, expected a file")
        if name in ("gradescope", "classroom") and len(submissions) != 1:
            raise UsageError(f"--{name}: this report is of one submission, and there are {len(submissions)}")
    return wanted


def grade_many(submissions, left_out, options, limits, screen):
    """Grade a class; show it and write the reports. Exit code 0 when every submission passes."""
    wanted, known = wanted_reports(options, submissions), earlier_submissions(options, limits)
    from grader.cohort import class_lines, fault_of_place, grade_class
    from grader.reports.reports import WRITERS, write  # now: later it could be a file that a submission has rewritten
    from grader.screen.screen import Progress

    fault = (options.exec or options.python) and fault_of_place(limits, options.lab)
    if fault:
        raise UsageError(f"{' '.join(limits.command(0)[:-5])}: {fault}")
    progress = Progress("submissions")
    result = grade_class(submissions, limits, options.jobs, options.lab, known, left_out, progress)
    progress.clear()
    screen.show(class_lines(result, screen))
    faults = []
    for name, path in wanted.items():
        try:
            write(path, WRITERS[name](result))
        except (ValueError, OSError) as error:
            faults.append(f"--{name} {path}: {getattr(error, 'strerror', None) or error}")
    if faults:
        raise UsageError("; ".join(faults))
    if not result["complete"]:
        return INTERRUPTED
    return PASSED if all(entry["passed"] == entry["total"] for entry in result["submissions"]) else FAILED


def make_autograder(options):
    from grader.autograder import autograder_zip
    from grader.reports.reports import write

    try:
        write(options.make_autograder, autograder_zip(options.lab))
    except OSError as error:
        raise UsageError(f"--make-autograder {options.make_autograder}: {error.strerror}") from error
    print(f"wrote {options.make_autograder}: upload it as the autograder of a programming assignment")
    return PASSED


def run(arguments):
    """Do what the command line says; return the exit code."""
    options = command_line().parse_args(arguments)
    named = [lab_of(Path(target)) for target in options.target if target.endswith(".py")]
    options.lab = options.lab or next(filter(None, named), MAIN_LAB)
    if bool(options.make_autograder) == bool(options.target):
        raise UsageError("expected a target, for instance: python verify.py starter")
    if options.make_autograder:
        return make_autograder(options)
    if options.reset and len(options.target) == 1:
        return reset(options.target[0], options.lab)
    submissions, left_out, is_class = find_targets(options.target, options.lab, options.gradescope or options.classroom)
    many = is_class or any(getattr(options, name) is not None for name in ("resume", *REPORTS))
    useless = [name for name in FOR_ONE if many and getattr(options, name)]
    if useless:
        raise UsageError(f"{'-' if len(useless[0]) == 1 else '--'}{useless[0]} is for one submission, and without a report")
    try:
        limits = Limits(options.timeout, options.memory, options.exec, options.python)
    except ValueError as error:
        raise UsageError(f"--exec {options.exec}: {error}") from error
    from grader.screen.screen import Screen

    screen = Screen()
    if many:
        return grade_many(submissions, left_out, options, limits, screen)
    report = grade_and_show(submissions[0][1], options, limits, screen)
    return PASSED if report.complete and not options.k and not options.debug else FAILED


def main(arguments=None):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that what was started is ended
    try:
        return run(arguments)
    except UsageError as error:
        print(f"verify.py: {error}", file=sys.stderr)
        return USAGE_ERROR
    except BrokenPipeError:  # who reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
