"""The options of verify.py, and what each of them takes."""

import argparse
import os
import re

from grader.intake.handout import nearest
from grader.intake.sources import LABS, MAIN_LAB
from grader.intake.targets import UsageError
from grader.reports import formats

ALL_LABS = "all"
SEEDS = 10**15  # 0 and those that are drawn: too many for a submission to try until its words come out
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
    if not text.isdecimal() or len(text) >= len(str(SEEDS)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {SEEDS - 1}, got {text}")
    return int(text)


def in_sentence(text):
    """Return a first line of a docstring as it continues a sentence: "JUnit XML" stays, "A page" becomes "a page"."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def drawn_seed():
    """Return a seed that nobody knows before."""
    import random

    return random.SystemRandom().randrange(1, SEEDS)


CORES = os.cpu_count() or 1
FLAG = {"action": "store_true"}
TARGETS = (
    "starter (the default), solution, a file, a folder that holds one, a folder of such folders or files, or a zip"
)
GROUPS = {  # of options: their names, what argparse is told of each, and its help
    "for students": (
        ("--watch", FLAG, "run again at each save"),
        ("--hint", FLAG, "add a hint to the first failing test"),
        ("--all", FLAG, "show every failure"),
        ("-k", {"metavar": "PATTERN", "default": ""}, "run a part: a clause, a function, or a part of a test's name"),
        ("--fresh", FLAG, "give the tests other names and numbers, drawn anew, as a class gets them"),
        ("-q", FLAG, "print one line"),
        ("--debug", FLAG, "run in this process, for breakpoint(); this is not a grade"),
        ("--reset", FLAG, "put the original starter back; your file is kept as .bak"),
    ),
    "where and how long a submission runs": (
        ("--timeout", {"metavar": "SECONDS", "type": positive, "default": 5.0}, "time for each test (default 5)"),
        ("--memory", {"metavar": "MIB", "type": whole, "default": 512}, "memory of a submission (default 512)"),
        (
            "--exec",
            {"metavar": "PREFIX", "default": ""},
            "put this command before the interpreter, e.g. docker run ...",
        ),
        ("--python", {"metavar": "NAME"}, "the interpreter that runs a submission"),
        ("--no-sandbox", FLAG, "Linux: let a submission read your files and use the network"),
    ),
    "for instructors": (
        ("--jobs", {"metavar": "N", "type": whole, "default": CORES}, "submissions side by side (default: the cores)"),
        ("--seed", {"metavar": "N", "type": seed}, "what --fresh draws, to repeat a run; 0: as the tests are written"),
        ("--resume", {"metavar": "FILE"}, "a result of --json: grade only what is new or changed"),
        *((f"--{name}", {"metavar": "FILE"}, f"write {in_sentence(what)}") for name, what in REPORTS.items()),
        ("--make-handout", {"metavar": "FOLDER|FILE.zip"}, "write what students get: no solution, no tests of the kit"),
        ("--make-autograder", {"metavar": "FILE.zip"}, "write an autograder for Gradescope"),
    ),
    "for instructors: what goes back to a platform": (
        (
            "--points",
            {"metavar": "NAME=N,...", "default": ""},
            "what a function is worth in every report (default: a point per test)",
        ),
        ("--roster", {"metavar": "FILE.csv"}, "who is in the class: who handed in nothing gets a row"),
        (
            "--gradebook",
            {"metavar": "FILE.csv"},
            "a sheet that Moodle or Canvas exported: write FILE-graded.csv, filled in",
        ),
        ("--grade-column", {"metavar": "HEAD"}, "the column of the gradebook to fill, where it is not clear"),
        (
            "--feedback",
            {"metavar": "FOLDER|FILE.zip"},
            "write a page and a text per student, under the platform's names",
        ),
        (
            "--export-for-similarity",
            {"metavar": "FOLDER"},
            "lay the submissions out as MOSS, JPlag and Dolos want them",
        ),
    ),
}


def command_line(about=""):
    """Return the parser of the command line; the first line of about says what the program does."""
    parser = CommandLine(prog="verify.py", description=about.split("\n")[0], allow_abbrev=False)
    parser.add_argument("target", nargs="*", help=TARGETS)
    which = f"which lab (default: the one that a file is named after, else {MAIN_LAB})"
    parser.add_argument("--lab", choices=[*LABS, ALL_LABS], help=which)
    for title, options in GROUPS.items():
        group = parser.add_argument_group(title)
        for name, told, about_it in options:
            group.add_argument(name, help=about_it, **told)
    return parser
