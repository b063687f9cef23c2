"""What the targets of a command line name: one submission, or a class.

A submission is (name, place): the path of its file, or a text that says why there is none.
"""

import collections
import re
from pathlib import Path

from grader.intake.handout import KIT
from grader.intake.sources import lab_of
from grader.text import look_of

IGNORED = re.compile(r"[._]|node_modules$")  # what systems and archives leave: .git, .DS_Store, __MACOSX, __pycache__
OTHER_ROOMS = ("solution", "tests", "scenario")  # of a kit that was handed in whole
COPY = re.compile(r" \(\d+\)$")  # a browser adds (1), (2) to a file that it saves again


class UsageError(Exception):
    """The command line is wrong; the message says what and where."""


def is_submission(path, lab):
    """Return whether a file is one of the lab by its name, whatever a platform or a browser made of it."""
    return path.suffix.lower() == ".py" and lab_of(Path(COPY.sub("", path.stem).lower())) == lab


def files_below(folder, lab, depth=6):
    """Return the lab's files in a folder, as handed in; what a system left and a kit's other rooms do not count."""
    found = []
    for entry in sorted(folder.iterdir()) if depth else ():
        if IGNORED.match(entry.name) or entry.name in OTHER_ROOMS:
            continue
        if entry.is_symlink() or not entry.is_dir():
            found += [entry] if is_submission(entry, lab) else []
        else:
            found += files_below(entry, lab, depth - 1)
    return found


def place_in(folder, lab):
    """Return the path of the one submission in a folder, or why there is none."""
    if folder.is_symlink():
        return "it is a link: put the folder itself there"
    try:
        found = files_below(folder, lab)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    for exact in (folder / f"{lab}.py", folder / "starter" / f"{lab}.py"):
        if exact in found:
            return exact
    if len(found) == 1:
        return found[0]
    if not found:
        return f"no {lab}.py is in this folder"
    shown = ", ".join(path.relative_to(folder).as_posix() for path in found[:3])
    return f"{len(found)} files are in this folder ({shown}{', ...' if len(found) > 3 else ''}): one is expected"


def find_class(folder, lab):
    """Return (submissions in the order of names, names that are left out) of a folder of submissions."""
    found, left_out = [], []
    for entry in folder.iterdir():
        if IGNORED.match(entry.name):
            continue
        if entry.is_dir():
            found.append((entry.name, place_in(entry, lab)))
        elif is_submission(entry, lab):
            found.append((entry.stem, entry))
        else:
            left_out.append(entry.name)
    return sorted(found, key=lambda pair: (pair[0].casefold(), pair[0])), sorted(left_out)


def find_target(path, lab, for_one):
    """Return (submissions, left out, is a class) of one target; for_one: a report of one submission is wanted."""
    if path.is_file() and path.suffix == ".py":
        return [(path.stem, path)], [], False
    if not path.is_dir():
        wrong = "expected a Python file or a folder" if path.exists() else "there is no such file or folder"
        raise UsageError(f"{path}: {wrong}")
    found, left_out = find_class(path, lab)
    handed_in = [name for name, place in found if isinstance(place, Path) and name not in ("starter", lab)]
    name, place = path.resolve().name, next((file for file in (path / f"{lab}.py", path / "starter" / f"{lab}.py") if file.is_file()), None)
    if place and handed_in and path.resolve() != KIT:
        raise UsageError(f"{path}: {lab}.py lies here beside submissions ({', '.join(handed_in[:3])}): name the one or the others")
    if place or for_one:
        return [(name, place or place_in(path, lab))], [], False
    if not found:
        raise UsageError(f"{path}: no {lab}.py is in this folder, and no submission")
    return found, left_out, True


def find_targets(targets, lab, for_one=False):
    """Return (submissions, names left out, is a class) of everything that the targets name."""
    submissions, left_out, is_class = [], [], len(targets) > 1
    for target in targets:
        path = Path(target)
        if not path.exists() and not path.is_symlink() and (KIT / target).exists():
            path = KIT / target
        try:
            found, rest, many = find_target(path, lab, for_one)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error
        submissions, left_out, is_class = submissions + found, left_out + rest, is_class or many
    return with_own_names(submissions), left_out, is_class


def with_own_names(submissions):
    """Return the submissions; where names look alike, the place that each is from is added, and then its number."""
    looks = collections.Counter(look_of(name) for name, _ in submissions)
    named = [
        (name if looks[look_of(name)] == 1 else f"{name} ({place.parent.as_posix() if isinstance(place, Path) else 'no file'})", place)
        for name, place in submissions
    ]
    looks = collections.Counter(look_of(name) for name, _ in named)
    return [(name if looks[look_of(name)] == 1 else f"{name} ({number})", place) for number, (name, place) in enumerate(named, start=1)]
