"""Makes starter/ from solution/, and tests/grader/intake/originals.json:
what the hand-out looked like before anyone edited it.

`python tests/kit/make_starter.py` writes both; with --check it only says what is out of step (exit 1).
What a student writes is what stands in the solution under a line `# ---- to write`: the public functions there are
emptied down to their docstrings, and the helpers (_name) there are cut.
"""

import ast
import json
import sys

from kit import KIT, LABS, solution_of

from grader.intake.handout import digest

ROOMS = ("scenario", "solution", "tests")  # what a student does not edit; tests/kit is not part of the hand-out
ORIGINALS = KIT / "tests" / "grader" / "intake" / "originals.json"
SECTION, TO_WRITE = "# ---- ", "# ---- to write"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


# ---- reading a solution


def defined(node):
    """Return the names that a top-level statement defines, in order."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def first_line(node):
    """Return the number of a statement's first line, decorators included."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def answers(solution):
    """Return the statements that stand under a line `# ---- to write`: the functions to write, and their helpers."""
    lines, found, wanted, end = solution.splitlines(), [], False, 0
    for node in ast.parse(solution).body:
        for line in lines[end : first_line(node) - 1]:
            if line.startswith(SECTION):
                wanted = line.startswith(TO_WRITE)
        end = node.end_lineno
        if wanted:
            found.append(node)
    return found


def is_helper(node):
    return bool(defined(node)) and all(name.startswith("_") for name in defined(node))


def names_to_write(solution):
    """Return the names of the functions to write of a solution's text; ValueError when there are none."""
    names = [node.name for node in answers(solution) if isinstance(node, FUNCTIONS) and not is_helper(node)]
    if not names:
        raise ValueError(f"no public function stands under a line {TO_WRITE!r}")
    return names


def functions_to_write(lab):
    """Return the names of the functions that a student of the lab writes, in the order of the solution."""
    return names_to_write(solution_of(lab))


# ---- making


def make_starter(solution):
    """Return the text of a solution with its functions to write emptied and their helpers cut; all else stays.

    ValueError for a function without docstring: nothing would be left to say what to write.
    """
    lines, names = solution.splitlines(keepends=True), names_to_write(solution)
    for node in reversed(answers(solution)):
        if is_helper(node):
            first, end = first_line(node) - 1, node.end_lineno
            while lines[first - 1].startswith("#") and not lines[first - 1].startswith(SECTION):
                first -= 1
            while end < len(lines) and not lines[end].strip():
                end += 1
            del lines[first:end]
        elif isinstance(node, FUNCTIONS) and node.name in names:
            if ast.get_docstring(node) is None:
                raise ValueError(
                    f"{node.name}, line {node.lineno}: a function to write needs a docstring, which is its contract"
                )
            lines[node.body[0].end_lineno : node.end_lineno] = [f'    raise NotImplementedError("write {node.name}")\n']
    return "".join(lines)


def provided_parts(starter):
    """Return {name: source text} of what a starter provides, and {name: header} of the functions to write."""
    parts, headers, names = {}, {}, names_to_write(starter)
    lines = starter.splitlines(keepends=True)
    for node in ast.parse(starter).body:
        if isinstance(node, FUNCTIONS) and node.name in names:
            headers[node.name] = "".join(lines[node.lineno - 1 : node.body[0].lineno - 1]).strip()
        elif defined(node):
            parts[", ".join(defined(node))] = "".join(lines[first_line(node) - 1 : node.end_lineno])
    return {"provided": parts, "to_write": headers}


def make_originals(starters):
    """Return the text of originals.json: the starters as they are handed out, and digests of what stays as it is."""
    kept = [KIT / "verify.py", *sorted(path for room in ROOMS for path in (KIT / room).rglob("*") if is_kept(path))]
    digests = {path.relative_to(KIT).as_posix(): digest(path) for path in kept if path.exists()}
    labs = {f"{lab}.py": {"text": text, **provided_parts(text)} for lab, text in starters.items()}
    return json.dumps({"starter": labs, "sha256": digests}, indent=1) + "\n"


def is_kept(path):
    parts = path.relative_to(KIT).parts
    return path.is_file() and "__pycache__" not in parts and parts[:2] != ("tests", "kit") and path != ORIGINALS


def made_files():
    """Return {path: text} of every file that is made from others."""
    starters = {}
    for lab in LABS:
        try:
            starters[lab] = make_starter(solution_of(lab))
        except ValueError as error:
            raise ValueError(f"solution/{lab}.py: {error}") from error
    return {
        **{KIT / "starter" / f"{lab}.py": text for lab, text in starters.items()},
        ORIGINALS: make_originals(starters),
    }


def main(arguments):
    try:
        made = made_files()
    except ValueError as error:
        print(f"make_starter.py: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" in arguments:
            print(
                f"{path.relative_to(KIT).as_posix()} is out of step with solution/: run python tests/kit/make_starter.py"
            )
            continue
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(made[path])
        print(f"wrote {path.relative_to(KIT).as_posix()}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
