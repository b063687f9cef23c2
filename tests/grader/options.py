"""The options of verify.py, and what each of them takes."""

import argparse
import os
import re

from grader.intake.handout import nearest
from grader.intake.sources import LABS, MAIN_LAB
from grader.intake.targets import UsageError
from grader.reports import formats

ALL_LABS = "all"
SEEDS = 1_000_000  # 0 and those that are drawn
REPORTS = formats()


class CommandLine(argparse.ArgumentParser):
    def error(self, message):
        wrong = re.fullmatch(r"unrecognized arguments: (\S+).*", message)
        near = wrong and nearest(wrong[1].partition("=")[0], self._option_string_actions)
        raise UsageError(f"{message}; did you mean {near}?" if near else message)


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


def seed(text):
    """Return the seed that an option gives."""
    if not text.isdecimal() or int(text) >= SEEDS:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {SEEDS - 1}, got {text}")
    return int(text)


def drawn_seed():
    """Return a seed that nobody knows before."""
    import random

    return random.SystemRandom().randrange(1, SEEDS)


def command_line(about=""):
    """Return the parser of the command line; the first line of about says what the program does."""
    parser = CommandLine(prog="verify.py", description=about.split("\n")[0], allow_abbrev=False)
    parser.add_argument("target", nargs="*", help="starter (the default), solution, a file, a folder that holds one, or a folder of such folders or files")
    parser.add_argument("--lab", choices=[*LABS, ALL_LABS], help=f"which lab (default: the one that a file is named after, else {MAIN_LAB})")
    student = parser.add_argument_group("for students")
    student.add_argument("--watch", action="store_true", help="run again at each save")
    student.add_argument("--hint", action="store_true", help="add a hint to the first failing test")
    student.add_argument("--all", action="store_true", help="show every failure")
    student.add_argument("-k", metavar="PATTERN", default="", help="run a part: a clause, a function, or a part of a test's name")
    student.add_argument("--fresh", action="store_true", help="give the tests other names and numbers, drawn anew, as a class gets them")
    student.add_argument("-q", action="store_true", help="print one line")
    student.add_argument("--debug", action="store_true", help="run in this process, for breakpoint(); this is not a grade")
    student.add_argument("--reset", action="store_true", help="put the original starter back; your file is kept as .bak")
    limits = parser.add_argument_group("where and how long a submission runs")
    limits.add_argument("--timeout", metavar="SECONDS", type=positive, default=5.0, help="time for each test (default 5)")
    limits.add_argument("--memory", metavar="MIB", type=whole, default=512, help="memory of a submission (default 512)")
    limits.add_argument("--exec", metavar="PREFIX", default="", help="put this command before the interpreter, e.g. docker run ...")
    limits.add_argument("--python", metavar="NAME", help="the interpreter that runs a submission")
    limits.add_argument("--no-sandbox", action="store_true", help="Linux: let a submission read your files and use the network")
    grading = parser.add_argument_group("for instructors")
    grading.add_argument("--jobs", metavar="N", type=whole, default=os.cpu_count() or 1, help="submissions side by side (default: the cores)")
    grading.add_argument("--seed", metavar="N", type=seed, help="what --fresh draws, to repeat a run; 0: as the tests are written")
    grading.add_argument("--resume", metavar="FILE", help="a result of --json: grade only what is new or changed")
    for name, what in REPORTS.items():
        grading.add_argument(f"--{name}", metavar="FILE", help=f"write {what[0].lower() + what[1:] if not what[1:2].isupper() else what}")
    back = parser.add_argument_group("for instructors: what goes back to a platform")
    back.add_argument("--points", metavar="NAME=N,...", default="", help="what each function is worth, in every report (default: a point per test)")
    back.add_argument("--roster", metavar="FILE.csv", help="who is in the class: who handed in nothing gets a row")
    back.add_argument("--gradebook", metavar="FILE.csv", help="a sheet that Moodle or Canvas exported: write FILE-graded.csv, its grades filled in")
    back.add_argument("--grade-column", metavar="HEAD", help="the column of the gradebook to fill, where it is not clear")
    back.add_argument("--feedback", metavar="FOLDER|FILE.zip", help="write a page and a text for each student, under the names that the platform takes back")
    back.add_argument("--export-for-similarity", metavar="FOLDER", help="lay the submissions out as MOSS, JPlag and Dolos want them")
    grading.add_argument("--make-handout", metavar="FOLDER|FILE.zip", help="write what students get: no solution, no tests of the kit")
    grading.add_argument("--make-autograder", metavar="FILE.zip", help="write an autograder for Gradescope")
    return parser
