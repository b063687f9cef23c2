"""Grades a submission of a lab, or a class: `python verify.py starter`. Exit 0 when all fifteen tests pass.

A submission runs in a process of its own, with limits; no line of it runs here. README.md says what that promises.
"""

import argparse
import os
import sys
from pathlib import Path

KIT = Path(__file__).resolve().parent
sys.path.insert(0, str(KIT / "tests"))

from submission import Limits, Session, module_name  # noqa: E402 - it stands in tests/

PASSED, FAILED, USAGE_ERROR, INTERRUPTED = 0, 1, 2, 130
REPORTS = ("json", "csv", "junit", "gradescope", "classroom", "html")


class UsageError(Exception):
    """The command line is wrong; the message says what and where."""


class CommandLine(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def positive(text):
    """Return the number above 0 that an option gives."""
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return number


def command_line():
    parser = CommandLine(prog="verify.py", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("target", nargs="*", help="starter, solution, a file, a folder that holds ticket_triage.py, or a folder of such folders or files")
    student = parser.add_argument_group("for students")
    student.add_argument("--watch", action="store_true", help="run again at each save")
    student.add_argument("--hint", action="store_true", help="add a hint for the first failing test")
    student.add_argument("--all", action="store_true", help="show every failure")
    student.add_argument("-k", metavar="PATTERN", default="", help="run only the tests whose name holds PATTERN")
    student.add_argument("-q", action="store_true", help="print one line")
    student.add_argument("--debug", action="store_true", help="run in this process, for breakpoint(); this is no grade")
    student.add_argument("--reset", action="store_true", help="put the original starter back; your file is kept as .bak")
    limits = parser.add_argument_group("where and how long a submission runs")
    limits.add_argument("--timeout", metavar="SECONDS", type=positive, default=5.0, help="time for each test (default 5)")
    limits.add_argument("--memory", metavar="MIB", type=positive, default=512.0, help="memory of a submission (default 512)")
    limits.add_argument("--exec", metavar="PREFIX", default="", help="put this command before the interpreter, e.g. docker run ...")
    limits.add_argument("--python", metavar="NAME", help="the interpreter that runs a submission")
    grading = parser.add_argument_group("for instructors")
    grading.add_argument("--jobs", metavar="N", type=positive, default=os.cpu_count() or 1, help="submissions side by side (default: the cores)")
    grading.add_argument("--resume", metavar="FILE", help="a result of --json: grade only what is new or changed")
    for name in REPORTS:
        grading.add_argument(f"--{name}", metavar="FILE", help=f"write the result as {name}")
    grading.add_argument("--make-autograder", metavar="FILE.zip", help="write an autograder for Gradescope")
    return parser


# ---- targets


def find_targets(targets, for_one=False):
    """Return (submissions, is a class): [(name, path)] of everything that the targets name.

    for_one: the report is of one submission, and a folder without any is one that holds nothing (path None).
    """
    from classroom import find_in_folder, find_submissions

    submissions, is_class = [], len(targets) > 1
    for target in targets:
        path = Path(target)
        if not path.exists() and not path.is_symlink() and (KIT / target).exists():
            path = KIT / target
        if path.is_file() and path.suffix == ".py":
            submissions.append((path.stem, path))
        elif path.is_dir() and find_in_folder(path, "ticket_triage"):
            submissions.append((path.resolve().name, find_in_folder(path, "ticket_triage")))
        elif path.is_dir():
            found = find_submissions(path, "ticket_triage")
            if not found and for_one:
                found = [(path.resolve().name, None)]
            if not found:
                raise UsageError(f"{path}: no ticket_triage.py is in this folder, and no submission")
            submissions, is_class = submissions + found, True
        elif path.exists():
            raise UsageError(f"{path}: expected a Python file or a folder")
        else:
            raise UsageError(f"{path}: there is no such file or folder")
    return submissions, is_class


# ---- one submission


def grade_alone(path, options, limits, progress=None):
    """Grade one submission with what a student is told besides; return its Report."""
    if options.debug:
        from grading import grade_here

        return grade_here(path, options.k)
    with Session(path, limits) as session:  # the worker starts while the tests are imported
        from grading import grade_session

        report = grade_session(session, options.k, progress)
    from handout import changed_files, changed_parts

    if not report.load_failure:
        report.notes = changed_parts(report.lab, report.sources.get(report.lab, ""))
    if KIT in path.resolve().parents:
        report.notes += changed_files()
    return report


def show_alone(report, options, screen):
    from screen import count_line, report_lines

    if options.q:
        screen.show([f"{report.path.as_posix()}: {count_line(report, screen)}"])
        return
    screen.show(report_lines(report, screen, options.all, options.hint))
    if options.debug:
        screen.show(["It ran in this process, for debugging: this is no grade."])


def watch_alone(path, options, limits, screen):
    """Grade at each save until q or Ctrl-C; return the last Report."""
    from screen import watch_lines
    from watch import watch

    def show(report, hint, every):
        screen.clear()
        screen.show(watch_lines(report, screen, every or options.all, hint or options.hint))

    return watch(path, lambda path: grade_alone(path, options, limits), show)


def reset(submissions):
    from handout import reset

    for _, path in submissions:
        try:
            kept = reset(path)
        except (ValueError, OSError) as error:
            raise UsageError(str(error)) from error
        print(f"{path} is the original again" + (f"; what it was is in {kept}" if kept else ""))
    return PASSED


# ---- a class, and reports


def earlier_submissions(options):
    """Return the submissions of the result that --resume names, when the same tests made it."""
    if not options.resume:
        return []
    from classroom import kit_digest
    from reports import read_result

    try:
        result = read_result(options.resume)
    except (ValueError, OSError) as error:
        raise UsageError(f"--resume {options.resume}: {error}") from error
    return result["submissions"] if result.get("kit") == kit_digest(result["lab"]) else []


def write_reports(result, options):
    for name in REPORTS:
        path = getattr(options, name)
        if path:
            from reports import WRITERS, write

            try:
                write(path, WRITERS[name](result))
            except (ValueError, OSError) as error:
                raise UsageError(f"--{name} {path}: {error}") from error


def grade_many(submissions, options, limits, screen):
    """Grade a class; show it and write the reports. Exit code 0 when every submission passes."""
    import reports  # noqa: F401 - now: later it could be a file that a submission has rewritten
    from classroom import Progress, class_lines, grade_class

    result = grade_class(submissions, limits, int(options.jobs), earlier_submissions(options), Progress("submissions"))
    screen.show(class_lines(result, screen))
    write_reports(result, options)
    if not result["complete"]:
        return INTERRUPTED
    return PASSED if all(entry["passed"] == entry["total"] for entry in result["submissions"]) else FAILED


def run(arguments):
    """Do what the command line says; return the exit code."""
    options = command_line().parse_args(arguments)
    if options.make_autograder:
        from autograder import autograder_zip
        from reports import write

        try:
            write(options.make_autograder, autograder_zip())
        except OSError as error:
            raise UsageError(f"--make-autograder {options.make_autograder}: {error.strerror}") from error
        return PASSED
    if not options.target:
        raise UsageError("expected a target, for instance: python verify.py starter")
    submissions, is_class = find_targets(options.target, options.gradescope or options.classroom)
    limits = Limits(options.timeout, int(options.memory), options.exec, options.python)
    if options.reset:
        return reset(submissions)
    from screen import Screen

    screen = Screen()
    if is_class or any(getattr(options, name) for name in REPORTS):
        return grade_many(submissions, options, limits, screen)
    (_, path), = submissions
    if options.watch:
        report = watch_alone(path, options, limits, screen)
    else:
        from classroom import Progress

        report = grade_alone(path, options, limits, Progress("tests", patience=1.0))
        if not report.marks:
            raise UsageError(f"-k {options.k}: no test has this in its name, function or clauses (P1 to C4)")
        show_alone(report, options, screen)
    return PASSED if report.complete and not options.k and not options.debug else FAILED


def main(arguments=None):
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
