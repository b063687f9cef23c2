"""Packs the kit: what an instructor hands out, and an autograder for Gradescope."""

import io
import zipfile
from pathlib import Path

from grader.files import write_folder, write_new
from grader.intake.handout import KIT, changed_files, originals

ORIGINALS = "tests/grader/intake/originals.json"
PAGES = ("LICENSE", "README.md", "TASK.md", "TASK_cn.md")
SOLUTION = "solution/"  # it stays with the instructor

CACHE = "__pycache__"
NOT_FOR_GRADING = {CACHE, "kit"}  # parts of a path that do not go into an autograder

SETUP = """#!/usr/bin/env bash
# The grader needs Python 3.9 or newer and nothing else.
set -eu
command -v python3 >/dev/null || { apt-get update && apt-get install -y python3; }
"""

RUN = """#!/usr/bin/env bash
# Grades /autograder/submission; whatever happens, there is a result.
ROOT=${AUTOGRADER_ROOT:-/autograder}
mkdir -p "$ROOT/results"
RESULT="$ROOT/results/results.json"
rm -f "$RESULT"
cd "$ROOT/source" || exit 1
python3 verify.py "$ROOT/submission" --lab {lab} --gradescope "$RESULT" || true
if [ ! -s "$RESULT" ]; then
  echo '{"score": 0, "output": "The autograder failed. Tell your instructor.", "tests": []}' > "$RESULT"
fi
"""


def autograder_files(lab):
    """Return {name in the zip: bytes} of what the grader of a lab needs."""
    files = {"setup.sh": SETUP.encode(), "run_autograder": RUN.replace("{lab}", lab).encode()}
    paths = [KIT / "verify.py", KIT / "TASK.md"]
    for room in ("tests", "scenario"):
        paths += [path for path in sorted((KIT / room).rglob("*")) if path.is_file()]
    for path in paths:
        name = path.relative_to(KIT)
        if path.exists() and not NOT_FOR_GRADING & set(name.parts):
            files[name.as_posix()] = path.read_bytes()
    return files


def autograder_zip(lab):
    """Return the bytes of the zip for Gradescope."""
    return zipped(autograder_files(lab), ("setup.sh", "run_autograder"))


def zipped(files, programs=()):
    """Return the bytes of a zip of {name: bytes}; programs are names that can be run.
    The same files give the same bytes.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return content.getvalue()


# ---- the hand-out


def handout_files():
    """Return {name: bytes} of what students get:
    what originals.json lists but for the solution, and the starters as it has them.

    ValueError names a file that is not as it was when originals.json was made: to each student it would be a change.
    """
    starters, digests = originals()["starter"], originals()["sha256"]
    names = [name for name in digests if not name.startswith(SOLUTION)]
    changed = changed_files(names)
    if changed or not starters:
        raise ValueError(
            f"{(changed or [f'{ORIGINALS} is missing'])[0]}, or run python tests/kit/make_starter.py first"
        )
    pages = [name for name in PAGES if (KIT / name).exists()]
    files = {name: (KIT / name).read_bytes() for name in sorted([*names, ORIGINALS, *pages])}
    return {**files, **{f"starter/{name}": starter["text"].encode("utf-8") for name, starter in starters.items()}}


def left_out(files, folder=KIT):
    """Yield the names of what lies in the kit and is not among files;
    a folder of which nothing is ends with a slash.
    """
    for entry in sorted(folder.iterdir()):
        name = entry.relative_to(KIT).as_posix()
        if entry.is_dir() and not entry.is_symlink():
            if any(file.startswith(f"{name}/") for file in files):
                yield from left_out(files, entry)
            elif entry.name != CACHE:
                yield f"{name}/"
        elif name not in files:
            yield name


def make_handout(target):
    """Write what students get into a new folder or zip file, whole or not at all;
    return (its files, names left out).
    """
    files = handout_files()
    rest = list(left_out(files))
    if Path(target).suffix.lower() == ".zip":
        write_new(target, zipped(files))
    else:
        write_folder(target, files)
    return files, rest
