"""Puts a part of a submission into the frame of the lab's solution, and grades it.

A part (right/LAB/*.py, wrong/LAB/*.py, trivial/LAB/*.py) holds some of the functions to write with what they need. A
definition in it takes the place of the solution's of the same name; what the solution does not have is put before the
functions to write. So a change of the provided parts touches no part.
"""

import ast
import sys
import tempfile
import types
from pathlib import Path

from kit import HERE, LABS, solution_of
from make_starter import answers, defined, is_helper, names_to_write

from grader.grading import grade, run_tests, tests_of


class FrameError(ValueError):
    """A part of a submission does not fit into the solution; the message names the part."""


def title(path):
    """Return the first line of a part's docstring: what it is, or which clause it breaks and how."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def framed_file(lab, path):
    """Return the whole submission that the part in this file makes; FrameError names the file."""
    try:
        return framed(lab, path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FrameError(f"{path.relative_to(HERE).as_posix()}: {error}") from error


def parts(room, lab):
    """Return the files of a room (right, wrong, trivial, hostile) that are of this lab."""
    return sorted((HERE / room / lab).glob("*.py"))


def pieces(source):
    """Return (statement, its text with what stands before it) for each top-level statement."""
    lines, found, start = source.splitlines(keepends=True), [], 0
    for node in ast.parse(source).body:
        found.append((node, "".join(lines[start : node.end_lineno])))
        start = node.end_lineno
    return found


def to_write(source):
    """Return the places among the top-level statements of the functions to write and their helpers."""
    names = names_to_write(source)
    lines = {node.lineno for node in answers(source) if is_helper(node) or set(defined(node)) & set(names)}
    return {place for place, node in enumerate(ast.parse(source).body) if node.lineno in lines}


def framed(lab, part):
    """Return the solution's text with the definitions of a part in place of its own.

    A part that has all functions to write stands alone: the solution's helpers of these go.
    ValueError when it replaces nothing: then a name is wrong, or the solution has changed under it.
    """
    solution = solution_of(lab)
    old, new, own = pieces(solution), pieces(part), to_write(solution)
    alone = set(names_to_write(solution)) <= {name for node, _ in new for name in defined(node)}
    known = {name for place, (node, _) in enumerate(old) if not (alone and place in own) for name in defined(node)}
    placed = {name: text for node, text in new for name in known.intersection(defined(node))}
    if not placed and not alone:
        raise ValueError("it replaces nothing of the solution")
    text, added = [], [piece for node, piece in new if not known.intersection(defined(node))]
    for place, (node, piece) in enumerate(old):
        if place in own:
            text += added
            added = []
            if alone:
                continue
        text.append(next((placed[name] for name in defined(node) if name in placed), piece))
    return "".join(text)


def hand_in(folder, lab, text):
    """Write a submission into a folder, beside the labs that it may import; return its path."""
    for other in LABS:
        Path(folder, f"{other}.py").write_text(text if other == lab else solution_of(other), encoding="utf-8")
    return Path(folder, f"{lab}.py")


def graded(lab, text):
    """Grade a whole submission given as text, isolated as ever; return its marks."""
    with tempfile.TemporaryDirectory() as folder:
        return grade(hand_in(folder, lab, text)).marks


def tests_on(lab, text, seed=0):
    """Return the tests of a lab on a submission given as text and loaded here; their data is renamed by seed."""
    for other in LABS:
        sys.modules.pop(other, None)  # what was loaded here before is not part of this submission
    module = types.ModuleType(lab)
    tests = tests_of(lab, module, seed)
    exec(compile(text, f"{lab}.py", "exec", dont_inherit=True), vars(module))
    return tests


def graded_here(lab, text, seed=0):
    """Run the tests on a submission given as text in this process, which is faster; return its marks."""
    return run_tests(tests_on(lab, text, seed))
