"""What check.py looks for in a lab's files: that they are there, and that its tests are what the grader can use.

A test runs beside the grader and the submission in another process, so what works in plain unittest may not work here.
"""

import ast
import traceback
from dataclasses import dataclass

from kit import KIT, imported, solution_of, task_of
from make_starter import make_starter

from grader.grading import tests_of
from grader.intake.sources import MAIN_LAB
from grader.line.session import RemoteModule
from grader.result import TITLE

ALIAS = "lab"  # what the tests call the module of the submission


@dataclass
class Fault:
    """A fault of a lab: text, one line that says where and what, and next, the command to run after it is mended."""

    text: str
    next: str


def tests_file(lab):
    return KIT / "tests" / f"test_{lab}.py"


def starter_of(lab):
    return make_starter(solution_of(lab))


def check_files(lab, workers=None):
    """A lab has a solution, tests and a contract, and the solution can be made into a starter."""
    again = f"python tests/kit/check.py {lab}"
    contract = "the contract, with a line `- **A1** ...` per clause"
    for path, what in ((tests_file(lab), "the tests"), (task_of(lab), contract)):
        if not path.exists():
            yield Fault(f"{path.relative_to(KIT).as_posix()} is missing: it holds {what}", again)
    try:
        starter_of(lab)
    except SyntaxError as error:
        yield Fault(f"solution/{lab}.py, line {error.lineno}: {error.msg}", again)
    except ValueError as error:
        yield Fault(f"solution/{lab}.py: {error}", "python tests/kit/make_starter.py")


def check_tests(lab, workers=None):
    """The tests are what the grader can use; what they do wrong is said by line."""
    path, again = tests_file(lab), f"python tests/kit/check.py {lab}"
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        yield Fault(f"tests/{path.name}, line {error.lineno}: {error.msg}", again)
        return
    faults = [*imports(lab, tree), *used_at_import(tree), *docstrings(tree), *what_does_not_cross(lab, tree)]
    for number, text in sorted(faults):
        yield Fault(f"tests/{path.name}, line {number}: {text}", again)
    if not faults:
        text = import_fault(lab)
        if text:
            yield Fault(text, again)


def imports(lab, tree):
    """Yield (line, fault) for the imports: the lab under its one name, and nothing of another lab."""
    found = False
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if lab in names:
            found = all(alias.asname == ALIAS for alias in node.names if alias.name == lab)
            if not found:
                yield node.lineno, f"the grader knows the submission as `{ALIAS}`: write `import {lab} as {ALIAS}`"
                found = True
        elif isinstance(node, ast.ImportFrom) and node.module == lab:
            found = True
            mend = f"write `import {lab} as {ALIAS}` and {ALIAS}.NAME"
            yield node.lineno, f"what is imported from {lab} is not the submission's: {mend}"
        elif MAIN_LAB in names or (isinstance(node, ast.ImportFrom) and node.module == MAIN_LAB):
            mend = "take it from labtest, or write it here"
            yield node.lineno, f"a helper of {MAIN_LAB} is not the tests' to use: {mend}"
    if not found:
        yield 1, f"it does not import the lab: write `import {lab} as {ALIAS}`"


def used_at_import(tree):
    """Yield (line, fault) where the lab is used while the tests are imported."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if is_of_lab(node):
            when = "while the tests are imported, when nothing is submitted yet: use it inside a test"
            yield node.lineno, f"{ALIAS}.{node.attr} is used {when}"
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting += [*getattr(node, "decorator_list", []), *node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            waiting += ast.iter_child_nodes(node)


def is_of_lab(node):
    """Return whether a node is `lab.NAME`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == ALIAS


def docstrings(tree):
    """Yield (line, fault) for a test that does not begin with the clause it states."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            lines = (ast.get_docstring(node) or "").splitlines()
            if not any(map(TITLE.match, lines)):
                mend = "begin its docstring with the clause and a sentence"
                yield node.lineno, f"{node.name} does not say which clause it tests: {mend}"


def what_does_not_cross(lab, tree):
    """Yield (line, fault) for objects of the submission, and for the submission read as a file."""
    module = imported(lab)
    files = ("solution", "starter", f"solution/{lab}.py", f"starter/{lab}.py")
    for node in ast.walk(tree):
        named = getattr(module, node.attr, None) if is_of_lab(node) else None
        if isinstance(named, type) and not issubclass(named, BaseException):
            mend = "use labtest's (Client) or plain data"
            yield node.lineno, f"an object of {ALIAS}.{node.attr} does not come out of the submission's process: {mend}"
        if is_of_lab(node) and node.attr.startswith("__"):
            where = "the submission is in another process and has no file here: call its functions"
            yield node.lineno, f"{ALIAS}.{node.attr}: {where}"
        if "inspect" in imported_by(node):
            yield node.lineno, "inspect sees nothing of a submission, which is in another process: call its functions"
        if isinstance(node, ast.Constant) and node.value in files:
            yield node.lineno, f"{node.value!r}: the submission is not this file: call its functions"


def imported_by(node):
    """Return the names of the modules that a node imports."""
    if isinstance(node, ast.ImportFrom):
        return [node.module]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def import_fault(lab):
    """Import the tests as the grader does before there is a submission; return the fault in one line, or None."""
    try:
        tests = tests_of(lab, RemoteModule(lab))
    except (Exception, SystemExit) as error:
        frames, own = traceback.extract_tb(error.__traceback__), str(tests_file(lab))
        places = [f", line {frame.lineno}" for frame in frames if frame.filename == own]
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        return f"tests/test_{lab}.py{(places or [''])[-1]}: it cannot be imported without a submission: {said}"
    return None if tests else f"tests/test_{lab}.py has no test: write a class of labtest.LabTest with methods test_..."
