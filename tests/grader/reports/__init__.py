"""What becomes of a result: a file here for each format, which verify.py finds by its name and offers as --NAME FILE.

A format is a module with a docstring whose first line says what it writes (verify.py --help shows it), a function
report(result) that returns a text or pieces of one, and FOR_ONE = True where it is of one submission only.
result.FIELDS is the shape of a result. Names, paths and failures hold what submissions said: pass each text through
visible(), and then through the escaping of the format.
"""

import importlib
from pathlib import Path

from grader.result import NOT_RUN, rows_of, told
from grader.text import visible, visible_lines


def formats():
    """Return {name: what it writes} of the formats:
    the modules in this folder, and the first lines of their docstrings.
    """
    found = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        with open(path, encoding="utf-8") as file:
            found[path.stem] = file.readline().strip().strip('"').rstrip(".")
    return found


def format_of(name):
    """Return the module of a format."""
    return importlib.import_module(f"{__name__}.{name}")


def only_row(result):
    """Return the one row of a result; ValueError when there are more, or none."""
    found = rows_of(result)
    if len(found) != 1:
        raise ValueError(f"this report is of one submission, and there are {len(found)}")
    return found[0]


def failure_lines(mark):
    """Return the failure of a mark as lines: clause and sentence, then what is told."""
    if mark["failure"] is None:
        return [NOT_RUN]
    heading = f"{visible(mark['failure']['clause'])}  {visible(mark['failure']['sentence'])}"
    return [heading, *(f"{label:<10}{visible(text)}" for label, text in told(mark["failure"], mark["verdict"]))]


def mark_text(mark):
    """Return what a student reads of a test that did not pass: the failure, then what was printed."""
    printed = visible_lines(mark["printed"])
    return "\n".join(failure_lines(mark) + (["", "printed:", *printed] if printed else []))
