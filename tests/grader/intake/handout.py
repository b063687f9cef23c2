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
HEADER_LIMIT = 2000  # characters of a function's header that are looked at


@functools.lru_cache(maxsize=None)
def originals():
    """Return what originals.json holds; without the file nothing is known of the hand-out."""
    path = Path(__file__).with_name("originals.json")
    if not path.exists():
        return {"starter": {}, "sha256": {}}
    return json.loads(path.read_text(encoding="utf-8"))


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
    return {name: [base for base in bases if base in found or is_builtin_exception(base)] for name, bases in found.items()}


def is_builtin_exception(name):
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def provided_value(lab, name):
    """Return the value of a constant that a lab provides, as it was handed out and whatever a submission makes of it."""
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
    """Return {name: number of the line} of the functions that a source defines at its top, each by its first definition."""
    found = {}
    for number, line in enumerate(source.splitlines(), start=1):
        header = re.match(r"(?:async )?def (\w+)", line) if line.startswith(("def ", "async ")) else None
        if header:
            found.setdefault(header[1], number)
    return found


def changed_parts(lab, source):
    """Return a sentence for each function to write that is missing or takes other parameters, and one for changed parts."""
    original = originals()["starter"].get(f"{lab}.py", {"to_write": {}, "provided": {}})
    lines = source.splitlines()
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    notes = []
    defined = definitions(source)
    for name, header in original["to_write"].items():
        number = defined.get(name)
        if number is None and not re.search(rf"^{name}\b|import.*\b{name}\b", text, re.MULTILINE):
            notes.append(f"{name} is missing: the file has no line `{header}`")
        elif number is not None and parameters(header) != parameters("\n".join(lines[number - 1 :])[:HEADER_LIMIT]):
            notes.append(f"{name} takes other parameters in line {number} than TASK.md says: `{header}`")
    changed = [name for name, part in original["provided"].items() if part not in text]
    if changed:
        shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        notes.append(f"{shown}: provided, and changed here")
    return notes


def parameters(text):
    """Return the names of the parameters without a default of the function whose header begins the text, or None."""
    import ast

    for end in re.finditer(r":[ \t]*(#.*)?$", text, re.MULTILINE):
        try:
            function = ast.parse(text[: end.end()] + "\n    pass").body[0]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        plain = [argument.arg for argument in function.args.posonlyargs + function.args.args]
        required = plain[: len(plain) - len(function.args.defaults)]
        named = [argument.arg for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults) if default is None]
        return required, named
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
