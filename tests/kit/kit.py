"""What the kit's own tests share: where the kit is, its modules on the path, which labs there are, and processes."""

import concurrent.futures
import importlib
import multiprocessing
import os
import re
import subprocess
import sys
import time
import types
from pathlib import Path

KIT = Path(__file__).resolve().parents[2]
HERE = KIT / "tests" / "kit"
for room in (KIT, KIT / "tests", KIT / "solution"):
    if str(room) not in sys.path:
        sys.path.insert(1, str(room))
LABS = sorted(path.stem for path in (KIT / "solution").glob("*.py"))


def solution_of(lab):
    return (KIT / "solution" / f"{lab}.py").read_text(encoding="utf-8")


def task_of(lab):
    """Return the file that is the lab's contract."""
    return KIT / ("TASK.md" if lab == "ticket_triage" else f"scenario/{lab}/TASK.md")


def clauses_of(lab):
    """Return the numbers of the clauses of a lab's contract, in order: ["P1", "P2", ...];
    without those marked (provided).
    """
    return re.findall(r"^- \*\*([A-Z]\d+)\*\* (?!\(provided\))", task_of(lab).read_text(encoding="utf-8"), re.MULTILINE)


def imported(lab):
    """Return a lab's solution as a module. What a grading has put in the place of a lab goes first:
    other labs import from it.
    """
    for name in LABS:
        known = sys.modules.get(name)
        if known is not None and not (type(known) is types.ModuleType and known.__spec__):
            del sys.modules[name]
    return importlib.import_module(lab)


def run(*arguments, cwd=KIT, env=None, **options):
    """Run `python ARGUMENTS` and return the finished process with its output as text. env: variables to add."""
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **(env or {})}  # Windows would write in its own
    options = {"capture_output": True, "encoding": "utf-8", "timeout": 300, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run(command, cwd=cwd, env=environment, check=False, **options)


def wait_until(holds, seconds):
    """Return whether holds() came true within some seconds. It may be true for a moment only, so it is not asked again."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def pool(number=2, **options):
    """Return a pool of processes that are started afresh: the same on every system and version of Python."""
    return concurrent.futures.ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"), **options)
