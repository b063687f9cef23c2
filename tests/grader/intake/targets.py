"""What the targets of a command line name: one submission, or a class.

Each student of a class is a Submission, whatever was handed in: what cannot be graded has a text that says why.
"""

import collections
import re
from pathlib import Path

from grader.intake.archives import ArchiveError, Room, unpack
from grader.intake.handout import KIT, nearest, originals
from grader.intake.platforms import handed_in, is_exported, is_of, natural, owner_of, users_of
from grader.intake.sources import LABS, lab_of
from grader.text import look_of

# what systems, editors and archives leave: it is nobody's submission
SYSTEM = re.compile(
    r"\.(git|svn|hg|DS_Store|idea|vscode|venv|ipynb_checkpoints|Trash.*|_.*)$|__MACOSX$|__pycache__$|node_modules$"
    r"|Thumbs\.db$|~\$|\.~lock\.|desktop\.ini$"
)
OTHER_ROOMS = ("solution", "tests", "scenario")  # of a kit that was handed in whole
SHOWN = 3  # names of files in a reason
ADVICE = {
    ".ipynb": "export it as a .py file",
    ".txt": "name it .py",
    ".gz": "unpack it",
    ".rar": "unpack it",
    ".7z": "unpack it",
}

Submission = collections.namedtuple(
    "Submission", "name place id late notes export attempt", defaults=("", False, (), "", 1)
)
# place: the path of its file, or a text that says why there is none; notes: what is to know beside the verdict;
# export: the name of the file or folder (with a slash) as the platform gave it
# attempt: a number from 1, 0 where nothing was handed in
RESET = "; python verify.py starter --reset --lab {} gives you the original"
CLAUSE = re.compile(r"[A-Za-z]\d{1,2}")


class UsageError(Exception):
    """The command line is wrong; the message says what and where."""


def is_system(path):
    return bool(SYSTEM.match(path.name))


def files_below(folder, depth=6):
    """Return the files in a folder, as handed in; what a system left and a kit's other rooms do not count."""
    found = []
    for entry in sorted(folder.iterdir()) if depth else ():
        if is_system(entry) or entry.name in OTHER_ROOMS:
            continue
        if entry.is_symlink() or not entry.is_dir():
            found.append(entry)
        else:
            found += files_below(entry, depth - 1)
    return found


def is_submission(path, lab):
    """Return whether a file is one of the lab by its name, whatever a platform or a browser made of it."""
    return is_of(handed_in(path.name).file, lab)


def place_in(folder, lab):
    """Return (place, notes) of the one submission in a folder."""
    if folder.is_symlink():
        return "it is a link: put the folder itself there", ()
    try:
        files = files_below(folder)
    except OSError as error:
        return f"it cannot be read: {error.strerror}", ()
    for exact in (folder / f"{lab}.py", folder / "starter" / f"{lab}.py"):
        if exact in files:
            return exact, ()
    return choose(files, lab, folder)


def choose(files, lab, folder):
    """Return (place, notes): the lab's file among those that one student handed in,
    or the only Python file of another name.
    """
    found = [path for path in files if is_submission(path, lab)]
    python = [path for path in files if path.suffix.lower() == ".py"]
    if len(found) == 1:
        return found[0], ()
    if not found and len(python) == 1:
        return python[0], (f"its file is called {handed_in(python[0].name).file}, and not {lab}.py",)
    if not python and len(files) == 1 and files[0].suffix.lower() == ".zip":
        return from_zip(files[0], lab)
    if found or python:
        return f"{len(found or python)} files are there ({some(found or python, folder)}): one is expected", ()
    if not files:
        return f"no {lab}.py is there: the folder is empty", ()
    advice = ADVICE.get(files[0].suffix.lower()) if len(files) == 1 else None
    return f"it holds only {some(files, folder)}" + (f": {advice}" if advice else f", and no {lab}.py"), ()


def from_zip(path, lab):
    """Return (place, notes) of the one submission in a zip that a student handed in."""
    name = handed_in(path.name).file or path.name
    try:
        folder, refused = unpack(path)
    except ArchiveError as error:
        return f"it holds only {name}: {error}", ()
    if any(file.suffix.lower() == ".zip" for file in files_below(folder)):
        return f"it holds only {name}, and that a zip again: unpack it", ()
    place, notes = place_in(folder, lab)
    left = [f"not unpacked: {entry} ({why})" for entry, why in list(refused.items())[:SHOWN]]
    if left and isinstance(place, str):
        return f"it holds only {name}, and of that {'; '.join(left)}", ()
    return place, (*notes, f"unpacked from {name}", *left)


def some(files, folder):
    """Return the first few of the files as a text, by the names under which they were handed in."""
    names = [
        (path.relative_to(folder).parent / (handed_in(path.name).file or path.name)).as_posix()
        for path in files[:SHOWN]
    ]
    return ", ".join(names) + (", ..." if len(files) > SHOWN else "")


def find_class(folder, lab):
    """Return (submissions in the order of names, names that are left out) of a folder of submissions."""
    students, left_out = {}, []  # (name, id) -> the entries that are theirs
    entries = [entry for entry in sorted(folder.iterdir()) if not is_system(entry)]
    users = users_of(entry.name for entry in entries)
    files = [entry.name for entry in entries if entry.is_file()]
    flat = any(is_exported(name) or (handed_in(name).known and is_of(handed_in(name).file, lab)) for name in files)
    for entry in entries:
        handed = handed_in(entry.name)
        if entry.is_dir():
            if entry.name[0] in "._" and not any(is_submission(path, lab) for path in files_below(entry)):
                left_out.append(entry.name)
                continue
            key = users.get(entry.name, handed.student), handed.id
        elif is_submission(entry, lab) or (flat and handed.known):
            key = users.get(entry.name, handed.student) if handed.known else owner_of(entry.name, lab), handed.id
        else:
            left_out.append(entry.name)
            continue
        students.setdefault(key, []).append(entry)
    found = [submission_of(name, number, entries, lab) for (name, number), entries in students.items()]
    return sorted(found, key=lambda each: (natural(each.name), each.name)), sorted(left_out, key=natural)


def submission_of(name, number, entries, lab):
    """Return the Submission of a student, of whom these files and folders are: the newest attempt counts."""
    newest = max(
        entries,
        key=lambda entry: (
            entry.is_dir() or is_submission(entry, lab),
            entry.suffix.lower() == ".py",
            handed_in(entry.name).attempt,
        ),
    )
    late, folder = handed_in(newest.name).late, newest.parent
    alone = [entry for entry in entries if entry.suffix.lower() == ".py"] == [newest]
    if newest.is_dir():
        place, notes = place_in(newest, lab)
    elif is_submission(newest, lab):
        place, notes = newest, ()
    else:
        place, notes = choose([newest] if alone else entries, lab, folder)
    # Blackboard's own note on each attempt
    others = [entry.name for entry in entries if entry != newest and handed_in(entry.name).file != ".txt"]
    if others and isinstance(place, Path):
        shown = ", ".join(others[:SHOWN]) + (", ..." if len(others) > SHOWN else "")
        notes = (*notes, f"also handed in, and not graded: {shown}")
    tries = {handed_in(entry.name).attempt for entry in entries if entry.is_dir() or is_submission(entry, lab)}
    attempt = max([1, len(tries), handed_in(newest.name).attempt[-1] + 1 if handed_in(newest.name).known else 1])
    return Submission(name, place, number, late, notes, f"{newest.name}/" if newest.is_dir() else newest.name, attempt)


def refuse_class_of_classes(path, found, lab):
    """UsageError where a folder holds no submission but a class: who graded it so would give a class one 0."""
    for entry in sorted(path.iterdir()) if not any(isinstance(each.place, Path) for each in found) else ():
        if entry.is_dir() and not entry.is_symlink() and not is_system(entry):
            inside = [each for each in find_class(entry, lab)[0] if isinstance(each.place, Path)]
            if len(inside) > 1:
                raise UsageError(
                    f"{path}: this looks like a folder of classes: name the one that is meant, such as {entry}"
                )


def find_target(path, lab, for_one):
    """Return (submissions, left out, is a class) of one target; for_one: a report of one submission is wanted."""
    if path.is_file() and path.suffix.lower() == ".zip":
        return find_in_zip(path, lab, for_one)
    if path.is_file() and path.suffix == ".py":
        handed = handed_in(path.name)
        return [Submission(path.stem, path, handed.id, handed.late, export=path.name)], [], False
    if not path.is_dir():
        advice = f": {ADVICE[path.suffix.lower()]}" if path.suffix.lower() in ADVICE else ""
        wrong = f"expected a Python file, a folder or a zip{advice}"
        raise UsageError(f"{path}: {wrong if path.exists() else 'no such file or folder' + meant_instead(path, lab)}")
    found, left_out = find_class(path, lab)
    graded = [each for each in found if isinstance(each.place, Path) and each.name not in ("starter", lab)]
    places = (path / f"{lab}.py", path / "starter" / f"{lab}.py")
    place = next((file for file in places if file.is_file()), None)
    if place and graded and path.resolve() != KIT:
        raise UsageError(
            f"{path}: {lab}.py is in the same folder as submissions "
            f"({', '.join(each.name for each in graded[:SHOWN])}): name the file or the submissions"
        )
    if for_one and not place and len(graded) > 1:
        raise UsageError(
            f"{path}: this looks like a class of {len(graded)}, and the report is of one submission: "
            f"name it, such as {graded[0].place}"
        )
    if place or for_one:
        place, notes = (place, ()) if place else place_in(path, lab)
        return [Submission(path.resolve().name, place, notes=notes)], [], False
    refuse_class_of_classes(path, found, lab)
    if len(found) <= 1 and path.resolve() == KIT / "starter":
        raise UsageError(f"{path}: {lab}.py is missing{under_another_name(path, lab) or RESET.format(lab)}")
    if not found:
        raise UsageError(f"{path}: no {lab}.py is in this folder, and no submission")
    return found, left_out, True


def under_another_name(folder, lab):
    """Return "; is FILE the one? ..." for a file in starter/ whose name is like the one that a lab's file has,
    or "".
    """
    entries = [entry for entry in sorted(folder.iterdir()) if entry.is_file() and not entry.suffix.startswith(".bak")]
    others = [entry.name for entry in entries if entry.name not in originals()["starter"] and not is_system(entry)]
    like = next((name for name in others if name.lower().startswith(lab)), None) or nearest(f"{lab}.py", others)
    if like is None:
        return ""
    advice = ADVICE[".ipynb"] if like.lower().endswith(".ipynb") else f"save it as {lab}.py"
    return f"; is {like} the one? Then {advice}"


def meant_instead(path, lab):
    """Return what somebody may have meant by a target that is not there:
    a part of the tests, the file that is gone, a name.
    """
    if path.resolve().parent == KIT / "starter" and path.name in originals()["starter"]:
        missing = lab_of(path) or lab
        return under_another_name(path.parent, missing) or RESET.format(missing)
    if path == Path("starter") and not (KIT / path).exists():
        return RESET.format(lab)
    if path.stem in LABS and path.suffix in ("", ".py"):
        return f"; did you mean starter/{path.stem}.py?"
    functions = originals()["starter"].get(f"{lab}.py", {"to_write": {}})["to_write"]
    if CLAUSE.fullmatch(path.name) or path.name in functions or path.name.startswith("test_"):
        return f"; did you mean -k {path.name}?"
    near = nearest(path.name, [entry.name for entry in sorted(path.parent.iterdir())] if path.parent.is_dir() else [])
    return f"; did you mean {path.with_name(near)}?" if near else ""


def find_in_zip(path, lab, for_one):
    """Return find_target of what a zip holds: a class, or what one student handed in."""
    try:
        folder, refused = unpack(path)
    except ArchiveError as error:
        raise UsageError(f"{path}: {error}") from error
    inside = [entry for entry in folder.iterdir() if not is_system(entry)]
    # a folder that was packed as a whole
    if len(inside) == 1 and inside[0].is_dir() and not handed_in(inside[0].name).known:
        folder = inside[0]
    try:
        found, left_out, is_class = find_target(folder, lab, for_one)
    except UsageError as error:
        raise UsageError(str(error).replace(str(folder), str(path)) + told(refused)) from error
    found = [
        each._replace(place=f"{each.place.name}: {Room.faults[each.place]}") if each.place in Room.faults else each
        for each in found
    ]
    if not is_class and not for_one and isinstance(found[0].place, str):
        raise UsageError(f"{path}: {found[0].place}")
    return found if is_class else [found[0]._replace(name=path.stem)], [*left_out, *refused], is_class


def told(refused):
    """Return why the first entry of a zip was left out, to go behind a message; "" where none was."""
    name, why = next(iter(refused.items()), ("", ""))
    return f". Not unpacked: {name} ({why})" if why else ""


def find_targets(targets, lab, for_one=False):
    """Return (submissions, names left out, is a class) of everything that the targets name."""
    submissions, left_out, is_class = [], [], len(targets) > 1
    for target in targets:
        if not target.strip():  # a variable of a shell that is not set; Path takes it for this folder
            raise UsageError("expected the name of a file or folder, got an empty one")
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
    """Return the submissions; where names look alike, the id, the place that each is from, or its number is added."""
    for added in (
        lambda each, number: each.id,
        lambda each, number: each.place.parent.as_posix() if isinstance(each.place, Path) else "no file",
        lambda each, number: number,
    ):
        looks = collections.Counter(look_of(each.name) for each in submissions)
        if all(count == 1 for count in looks.values()):
            break
        submissions = [
            (
                each
                if looks[look_of(each.name)] == 1 or not added(each, number)
                else each._replace(name=f"{each.name} ({added(each, number)})")
            )
            for number, each in enumerate(submissions, start=1)
        ]
    return submissions
