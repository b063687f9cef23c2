"""Puts a part of a submission into the frame of the solution, and grades it.

A part (right/*.py, wrong/*.py) holds some of the four functions with what they need. A definition in it stands in the place of
the solution's of the same name; what the solution does not have stands before the functions to write.
So a change of the provided parts touches no part.
"""

import ast
import tempfile
import types
from pathlib import Path

from kit import KIT
from grading import grade, run_tests, tests_of

FUNCTIONS = ("parse_triage", "run_tool_call", "triage", "evaluate")
SOLUTION = KIT / "solution" / "ticket_triage.py"


def defined(node):
    """Return the names that a top-level statement defines."""
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {node.name} if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else set()


def to_write(node):
    """Return whether a statement of the solution is one of the four functions or a helper of theirs (_name)."""
    return any(name in FUNCTIONS or name.startswith("_") for name in defined(node))


def framed(part, solution=None):
    """Return the solution's text with the definitions of a part in place of its own.

    A part that has all four functions stands alone: the solution's helpers of these go.
    ValueError when it replaces nothing: then a name is wrong, or the solution has changed under it.
    """
    solution = SOLUTION.read_text(encoding="utf-8") if solution is None else solution
    nodes, new = pieces(solution), pieces(part)
    alone = set(FUNCTIONS) <= {name for node, _ in new for name in defined(node)}
    known = {name for node, _ in nodes if not (alone and to_write(node)) for name in defined(node)}
    placed = {name: text for node, text in new for name in defined(node) & known}
    if not placed and not alone:
        raise ValueError("it replaces nothing of the solution")
    text = []
    added = [piece for node, piece in new if not defined(node) & known]
    for node, piece in nodes:
        if to_write(node):
            text += added
            added = []
            if alone:
                continue
        text.append(next((placed[name] for name in defined(node) if name in placed), piece))
    return "".join(text)


def pieces(source):
    """Return (statement, its text with what stands before it) for each top-level statement."""
    lines, found, start = source.splitlines(keepends=True), [], 0
    for node in ast.parse(source).body:
        found.append((node, "".join(lines[start : node.end_lineno])))
        start = node.end_lineno
    return found


def graded(name, text):
    """Grade a whole submission given as text, isolated as ever; return its marks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}_ticket_triage.py")
        path.write_text(text, encoding="utf-8")
        return grade(path).marks


def graded_here(name, text):
    """Run the tests on a submission given as text in this process, which is faster; return its marks."""
    module = types.ModuleType("ticket_triage")
    tests = tests_of("ticket_triage", module)
    exec(compile(text, f"{name}.py", "exec", dont_inherit=True), vars(module))
    return run_tests(tests)
