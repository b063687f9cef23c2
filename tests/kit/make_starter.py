"""Makes starter/ from solution/, and tests/originals.json: what the hand-out looked like before anyone edited it.

`python tests/kit/make_starter.py` writes both; with --check it only says what is out of step (exit 1).
What a student writes is read from the tests: the class ParseTriage tests the function parse_triage.
"""

import ast
import hashlib
import json
import re
import sys
from pathlib import Path

KIT = Path(__file__).resolve().parents[2]
ROOMS = ("scenario", "solution", "tests")  # what a student does not edit; tests/kit is no part of the hand-out
ORIGINALS = KIT / "tests" / "originals.json"


def functions_to_write(lab):
    """Return the names of the functions that a student of the lab writes, in the order of the tests."""
    tests = ast.parse((KIT / "tests" / f"test_{lab}.py").read_text(encoding="utf-8"))
    solution = ast.parse((KIT / "solution" / f"{lab}.py").read_text(encoding="utf-8"))
    known = {node.name for node in solution.body if isinstance(node, ast.FunctionDef)}
    classes = [node.name for node in tests.body if isinstance(node, ast.ClassDef)]
    names = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in classes]
    return [name for name in names if name in known]


def is_private(node):
    """Return whether a top-level statement defines a name with an underscore: a helper of the answers."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name.startswith("_")
    return isinstance(node, ast.Assign) and all(isinstance(name, ast.Name) and name.id.startswith("_") for name in node.targets)


def make_starter(solution, names):
    """Return the text of a solution with the functions of these names emptied and their helpers cut; all else stays."""
    lines = solution.splitlines(keepends=True)
    for node in reversed(ast.parse(solution).body):
        if is_private(node):
            first = min([node.lineno] + [decorator.lineno for decorator in getattr(node, "decorator_list", [])])
            end = node.end_lineno
            while end < len(lines) and not lines[end].strip():
                end += 1
            del lines[first - 1 : end]
        elif isinstance(node, ast.FunctionDef) and node.name in names:
            lines[node.body[0].end_lineno : node.end_lineno] = [f'    raise NotImplementedError("write {node.name}")\n']
    return "".join(lines)


def digest(path):
    """Return the sha256 of a text file, whatever its line ends: git may change them on Windows."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def provided_parts(starter, names):
    """Return {name: source text} of what a starter provides, and {name: header} of the functions to write."""
    parts, headers = {}, {}
    lines = starter.splitlines(keepends=True)
    for node in ast.parse(starter).body:
        text = "".join(lines[node.lineno - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef) and node.name in names:
            headers[node.name] = "".join(lines[node.lineno - 1 : node.body[0].lineno - 1]).strip()
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            parts[node.name] = text
        elif isinstance(node, ast.Assign):
            parts[node.targets[0].id] = text
    return {"provided": parts, "to_write": headers}


def make_originals(starters):
    """Return the text of originals.json: the starters as they are handed out, and digests of what stays as it is."""
    kept = [KIT / "verify.py", *sorted(path for room in ROOMS for path in (KIT / room).rglob("*") if is_kept(path))]
    digests = {path.relative_to(KIT).as_posix(): digest(path) for path in kept if path.exists()}
    labs = {name: {"text": text, **provided_parts(text, functions_to_write(name[:-3]))} for name, text in starters.items()}
    return json.dumps({"starter": labs, "sha256": digests}, indent=1) + "\n"


def is_kept(path):
    parts = path.relative_to(KIT).parts
    return path.is_file() and "__pycache__" not in parts and parts[:2] != ("tests", "kit") and path != ORIGINALS


def made_files():
    """Return {path: text} of every file that is made from others."""
    starters = {}
    for solution in sorted((KIT / "solution").glob("*.py")):
        starters[solution.name] = make_starter(solution.read_text(encoding="utf-8"), functions_to_write(solution.stem))
    return {**{KIT / "starter" / name: text for name, text in starters.items()}, ORIGINALS: make_originals(starters)}


def main(arguments):
    stale = [path for path, text in made_files().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" in arguments:
            print(f"{path.relative_to(KIT)} is out of step with solution/: run python tests/kit/make_starter.py")
        else:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(made_files()[path])
            print(f"wrote {path.relative_to(KIT)}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
