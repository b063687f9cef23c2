"""Grades a submission of the lab: `python verify.py starter`. Exit 0 when all fifteen tests pass.

The submission runs in a process of its own, with limits; no line of it runs here. See README.md, "For instructors".
"""

import argparse
import sys
from pathlib import Path

KIT = Path(__file__).resolve().parent
sys.path.insert(0, str(KIT / "tests"))

from submission import Limits, module_name  # noqa: E402 - it stands in tests/

USAGE_ERROR = 2


class UsageError(Exception):
    """The command line is wrong; the message says what and where."""


class CommandLine(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def positive(text):
    """Return the number above 0 that an option gives."""
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError(text)
    return number


def command_line():
    parser = CommandLine(prog="verify.py", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("target", help="starter, solution, a folder that holds ticket_triage.py, or a file")
    parser.add_argument("--hint", action="store_true", help="add a hint for the first failing test")
    parser.add_argument("--all", action="store_true", help="show every failure")
    parser.add_argument("-k", metavar="PATTERN", default="", help="run only the tests whose name holds PATTERN")
    parser.add_argument("-q", action="store_true", help="print one line")
    parser.add_argument("--debug", action="store_true", help="run in this process, for breakpoint(); this is no grade")
    parser.add_argument("--timeout", metavar="SECONDS", type=positive, default=5.0, help="time for each test (default 5)")
    parser.add_argument("--memory", metavar="MIB", type=positive, default=512, help="memory of the submission (default 512)")
    parser.add_argument("--exec", metavar="PREFIX", default="", help="put this command before the interpreter, e.g. docker run ...")
    parser.add_argument("--python", metavar="NAME", help="the interpreter that runs the submission")
    return parser


def find_submission(target):
    """Return the file that a target names; UsageError says why there is none."""
    path = Path(target)
    if not path.exists() and (KIT / target).exists():
        path = KIT / target
    if path.is_dir():
        path = path / "ticket_triage.py"
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder")
    if path.suffix != ".py":
        raise UsageError(f"{path}: expected a Python file, or a folder that holds ticket_triage.py")
    return path


def run(arguments):
    """Do what the command line says; return the exit code."""
    options = command_line().parse_args(arguments)
    path = find_submission(options.target)
    limits = Limits(options.timeout, int(options.memory), options.exec, options.python)
    from grading import grade, grade_here

    if options.debug:
        report = grade_here(path, options.k)
    else:
        report = grade(path, limits, options.k)
    from screen import Screen, count_line, report_lines

    screen = Screen()
    if options.q:
        screen.show([f"{path}: {count_line(report, screen)}"])
    else:
        screen.show(report_lines(report, screen, options.all, options.hint))
    return 0 if report.complete and not options.k and not options.debug else 1


def main(arguments=None):
    try:
        return run(arguments)
    except UsageError as error:
        print(f"verify.py: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
