"""Compares a submission's source with what was handed out, in a process of its own:
a parser may take any time and memory.

It reads JSON from stdin, {"source": text, "provided": {names: text}, "to_write": {name: header}}, and writes
{"changed": [names], "missing": [name], "parameters": {name: line}}: what was provided and differs in more than its
form, functions to write that are not there, and those that take other parameters. No line of the submission runs.
"""

import ast
import json
import sys
import warnings

MEMORY = 1 << 30  # bytes
SECONDS = 3  # of the processor
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def limit_this_process():
    """Give the process a bound in memory and time, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: whoever started it ends it
        return
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):  # a lower bound is there already, or macOS
            pass


def names_of(node):
    """Return the names that a statement of the module's top defines, joined as originals.json joins them."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [
        name.id
        for target in targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]
    return ", ".join(names)


def written(node):
    """Return what a statement says, whatever its form:
    blanks, quotes, brackets, comments, the indent of a docstring.
    """
    for part in ast.walk(node):
        if isinstance(part, (*FUNCTIONS, ast.ClassDef)) and ast.get_docstring(part, clean=False) is not None:
            part.body[0].value = ast.Constant("\n".join(map(str.strip, part.body[0].value.value.strip().split("\n"))))
    return ast.dump(node)


def parameters(function):
    """Return the names of a function's parameters without a default: (positional, by keyword only)."""
    plain = [argument.arg for argument in function.args.posonlyargs + function.args.args]
    required = plain[: len(plain) - len(function.args.defaults)]
    named = [
        argument.arg
        for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults)
        if default is None
    ]
    return required, named


def bound(tree):
    """Return the names that a module binds in another way than by a def at its top;
    "*" when it imports what it does not name.
    """
    found, waiting = set(), list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return found


def compare(source, provided, to_write):
    """Return what differs, as the head of this file says."""
    tree = ast.parse(source)
    there = {names_of(node): node for node in tree.body}  # the last one of a name counts, as for Python
    changed = [
        names
        for names, text in provided.items()
        if names not in there or written(there[names]) != written(ast.parse(text).body[0])
    ]
    missing, other, names = [], {}, bound(tree)
    for name, header in to_write.items():
        function = there.get(name)
        if isinstance(function, FUNCTIONS):
            if parameters(function) != parameters(ast.parse(f"{header}\n    pass").body[0]):
                other[name] = function.lineno
        elif name not in names and "*" not in names:
            missing.append(name)
    return {"changed": changed, "missing": missing, "parameters": other}


if __name__ == "__main__":
    limit_this_process()
    warnings.simplefilter("ignore")
    json.dump(compare(**json.load(sys.stdin)), sys.stdout)
