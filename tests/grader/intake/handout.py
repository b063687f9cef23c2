"""What was handed out, and what a student changed of it although TASK.md says not to.

originals.json holds the starters and the digests of the other files; tests/kit/make_starter.py makes it.
"""

import builtins
import functools
import json
import re
from pathlib import Path

from grader.files import write

KIT = Path(__file__).resolve().parents[3]
ORIGINALS = Path(__file__).with_name("originals.json")
COMPARE = Path(__file__).with_name("compare.py").read_text(encoding="utf-8")
NEAR_LIMIT = 200  # names that are compared with a wrong one
COMPARE_LIMIT = 10.0  # seconds that its process may take


@functools.lru_cache(maxsize=None)
def originals():
    """Return what originals.json holds; ValueError or OSError where it cannot be read,
    since no grade is right without it.
    """
    found = json.loads(ORIGINALS.read_text(encoding="utf-8"))
    if type(found) is not dict or any(type(found.get(part)) is not dict for part in ("starter", "sha256")):
        raise ValueError("starter and sha256: expected objects")
    return found


@functools.lru_cache(maxsize=None)
def exceptions_of(lab):
    """Return {name: names of its bases} of the exceptions that a lab's module was handed out with, bases first.

    They are those that it defines, and those that it imports from another lab.
    """
    original, found = originals()["starter"].get(f"{lab}.py", {"text": "", "provided": {}}), {}
    for other, names in re.findall(r"^from (\w+) import (\([^)]*\)|.*)$", original["text"], re.MULTILINE):
        if f"{other}.py" in originals()["starter"]:
            imported = set(re.findall(r"\w+", names))
            found.update({name: bases for name, bases in exceptions_of(other).items() if name in imported})
    for part in original["provided"].values():
        header = re.match(r"class (\w+)\(([\w, ]+)\):", part)
        bases = re.findall(r"\w+", header[2]) if header else []
        if bases and all(base in found or is_builtin_exception(base) for base in bases):
            found[header[1]] = bases
    return {
        name: [base for base in bases if base in found or is_builtin_exception(base)] for name, bases in found.items()
    }


def is_builtin_exception(name):
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def provided_value(lab, name):
    """Return the value of a constant that a lab provides,
    as it was handed out and whatever a submission makes of it.
    """
    import ast  # by the tests that need it alone

    statement = ast.parse(originals()["starter"][f"{lab}.py"]["provided"][name]).body[0]
    return ast.literal_eval(statement.value)


def digest(path):
    """Return the sha256 of a text file, whatever its line ends: git may change them on Windows."""
    import hashlib

    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def changed_files(names=None):
    """Return one sentence for each file of the kit (or of names) that differs from the hand-out.

    A folder that was taken away is not a change.
    """
    notes, digests = [], originals()["sha256"]
    for name in digests if names is None else names:
        path, expected = KIT / name, digests[name]
        if not path.exists():
            if path.parent.exists():
                notes.append(f"{name} is missing: take it from the hand-out again")
        elif digest(path) != expected:
            notes.append(f"{name} was changed: take it from the hand-out again")
    return notes


def definitions(source):
    """Return {name: number of the line} of the functions that a source defines at its top,
    each by its first definition.
    """
    found = {}
    for number, line in enumerate(source.split("\n"), start=1):
        words = line.split(None, 3)[:3] if line.startswith(("def ", "async def ")) else []
        if words:
            name = words[-1 if words[0] == "async" else 1].partition("(")[0]
            found.setdefault(name, number)
    return found


def changed_parts(lab, source):
    """Return a sentence for each function to write that is missing or takes other parameters,
    and one for changed parts.
    """
    return [note for notes in differences(lab, source) for note in notes]


def differences(lab, source):
    """Return two lists of sentences: what is wrong with the functions to write,
    and what of the provided parts is changed.

    Most submissions hold all that was provided as it was. For the others a process of its own parses the source.
    """
    original = originals()["starter"].get(f"{lab}.py", {"to_write": {}, "provided": {}})
    text = "\n" + "\n".join(line.rstrip() for line in source.split("\n")) + "\n"
    headers = original["to_write"]
    if all(f"\n{part}" in text for part in original["provided"].values()) and all(
        text.count(f"\n{header}\n") == 1 for header in headers.values()
    ):
        return [], []
    found = compared(source, original)
    if found is None:
        return [], ["whether what is provided was changed is not known: this source cannot be parsed here"]
    notes = [
        f"{name} is missing{meant_instead(lab, name, source) or f': the file has no line `{headers[name]}`'}"
        for name in headers if name in found["missing"]
    ]
    for name, number in found["parameters"].items():
        notes.append(f"{name} takes other parameters in line {number} than TASK.md says: `{headers[name]}`")
    changed = found["changed"]
    if not changed:
        return notes, []
    shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
    lines = original["provided"].get(changed[0], "").splitlines()
    was = next((line.strip() for line in lines if f"\n{line}\n" not in text), lines[0] if lines else "")
    return notes, [f"{shown}: provided, and changed here. The hand-out has `{was}`"]


def meant_instead(lab, name, source):
    """Return "; is X (line N) meant?" for the function of a submission whose name is most like a missing one, or ""."""
    original, defined = originals()["starter"].get(f"{lab}.py", {"to_write": {}, "provided": {}}), definitions(source)
    others = [
        other
        for other in defined
        if other not in original["to_write"] and other not in original["provided"] and len(other) < 2 * len(name)
    ]
    near = nearest(name, others)
    return f"; is {near} (line {defined[near]}) meant?" if near else ""


def nearest(word, words):
    """Return the one of the words that is most like a word, or None."""
    import difflib

    return next(iter(difflib.get_close_matches(word, list(words)[:NEAR_LIMIT], 1)), None)


def compared(source, original):
    """Return what compare.py finds, or None when it comes to no end."""
    import subprocess
    import sys

    question = json.dumps({"source": source, "provided": original["provided"], "to_write": original["to_write"]})
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "timeout": COMPARE_LIMIT, "check": True}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", COMPARE], input=question.encode("ascii"), **options
        )
        return json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return None


def reset(path):
    """Put the original starter in the place of path; return the file that keeps what was there, or None.

    ValueError when no original is known. A file that keeps something is never overwritten.
    """
    if path.name not in originals()["starter"]:
        raise ValueError(f"{path}: no original of it is known")
    text = originals()["starter"][path.name]["text"]
    kept = None
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        kept = keep(path)
    write(path, text)
    return kept


def keep(path):
    """Copy path to path.bak, or path.bak2, .bak3 and so on, whichever is free; return that file."""
    number = 1
    while True:
        kept = path.with_name(f"{path.name}.bak{number if number > 1 else ''}")
        try:
            with open(kept, "xb") as file:
                file.write(path.read_bytes())
            return kept
        except FileExistsError:
            number += 1
