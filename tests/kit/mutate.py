"""Changes each lab's solution in one small place at a time, and looks whether the lab's tests notice.

    python tests/kit/mutate.py                        every lab: counts, every survivor, exit 1 when one is not explained
    python tests/kit/mutate.py judge                  one lab
    python tests/kit/mutate.py ticket_triage triage   the mutants of one function (or helper), and no check of the explanations

What is changed: the functions to write and their helpers. A mutant that no test refuses is a survivor. Each has a line in
mutate_survivors/LAB.txt that says why: `function: old => new || equivalent: why no input tells them apart`, or
`|| allowed: what the contract leaves open`. A line without a survivor is an error as well.

A lab has BUDGET seconds. The mutants are tried in an order that is drawn once, so that when the budget ends, those
tried are a fair part of all; the last line says how many were not tried.
"""

import ast
import multiprocessing
import os
import random
import re
import sys
import threading
import time
import warnings
from collections import Counter

import frame
from kit import HERE, LABS, solution_of

from grader.grading import run_tests
from grader.result import PASSED

LIMIT = 15.0  # seconds for one mutant; the tests need 0.3
BUDGET = float(os.environ.get("MUTATE_BUDGET", 240))  # seconds for one lab
PROCESSES = os.cpu_count() or 2
COMPARISONS = {
    ast.Lt: ("<=", ">"), ast.LtE: ("<", ">="), ast.Gt: (">=", "<"), ast.GtE: (">", "<="), ast.Eq: ("!=", ">="), ast.NotEq: ("==",),
    ast.In: ("not in",), ast.NotIn: ("in",), ast.Is: ("is not", "=="), ast.IsNot: ("is", "!="),
}
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
UNWRAPPED = {"strip", "rstrip", "lstrip", "lower", "sorted", "set", "list", "tuple", "dict", "len", "next", "round", "show"}
DECODERS = {"loads", "raw_decode", "decode"}  # what is called on the text of a reply
REPAIRS = (  # what may be done to a text before it is decoded, and must not: {0} is the text
    "{0}.strip('`*')", "{0}.rstrip('.;,!')", "{0}.lstrip('\\ufeff\\u200b')", "{0}[{0}.find('{{') :]", "{0}[: {0}.rfind('}}') + 1]",
    "{0}.partition('</think>')[2] or {0}", "{0}.partition(':\\n')[2] or {0}", "{0}.replace('<|im_end|>', '')",
    "{0} + '}}' * ({0}.count('{{') - {0}.count('}}'))", "{0}.replace(',}}', '}}')", "{0}.replace(\"'\", '\"')",
    "{0}.replace('\\u201c', '\"').replace('\\u201d', '\"')", "{0}.replace('True', 'true').replace('False', 'false')",
    "{0}.replace('None', 'null')", "{0}.replace('\\n', ' ')", "{0}.replace('\\\\n', ' ')", "{0}.replace('\\\\\"', '\"')",
    "__import__('html').unescape({0})", "__import__('unicodedata').normalize('NFKC', {0})",
    "__import__('re').sub(r'/\\*.*?\\*/', '', {0})", "__import__('re').sub(r'//[^\\n]*', '', {0})",
    "__import__('re').sub(r'<[^<>]*>', '', {0})", "__import__('re').sub(r'([{{,] *)(\\w+):', r'\\1\"\\2\":', {0})",
)  # fmt: skip
COMMENT = re.compile(r"  # .*")
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Return, ast.Break, ast.Continue)


# ---- a solution


class Source:
    """A source text, and the text and place of its nodes. Columns are counted in bytes, so the text is kept as bytes.

    limits: {name of a constant: what it is changed to}; bases: {name of an exception: the one that it is a kind of}.
    """

    def __init__(self, text):
        self.tree = ast.parse(text)
        self.limits = {name: other for node in self.tree.body for name, other in other_limits(node)}
        classes = [node for node in self.tree.body if isinstance(node, ast.ClassDef) and node.bases]
        self.bases = {node.name: node.bases[0].id for node in classes if isinstance(node.bases[0], ast.Name)}
        self.data = text.encode("utf-8")
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node):
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def text(self, node):
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8")

    def changed(self, span, new):
        return (self.data[: span[0]] + new.encode("utf-8") + self.data[span[1] :]).decode("utf-8")

    def described(self, span, new):
        """Return the lines around a change, before and after it, as one line: `old => new`."""
        first = self.data.rfind(b"\n", 0, span[0]) + 1
        last = self.data.find(b"\n", span[1])
        old = self.data[first:last].decode("utf-8")
        after = (self.data[first : span[0]] + new.encode("utf-8") + self.data[span[1] : last]).decode("utf-8")
        return " => ".join(" ".join(COMMENT.sub("", lines).split()) for lines in (old, after))


def other_limits(node):
    """Yield (name, texts it is changed to) for a statement that names a limit: an integer, a range or a tuple."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return
    name, value = node.targets[0].id, node.value
    if isinstance(value, ast.Constant) and type(value.value) is int:
        yield name, (f"({name} + 1)", f"({name} - 1)")
    elif isinstance(value, ast.Tuple):
        yield name, (f"{name}[1:]", f"{name}[:-1]", f"(*{name}, 'x')")
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "range" and len(value.args) == 2:
        first, end = (ast.literal_eval(argument) for argument in value.args)
        others = ((first, end - 1), (first, end + 1), (first - 1, end), (first + 1, end))
        yield name, tuple(f"range{bounds}" for bounds in others)


def walk(node, parent=None):
    """Yield (node, parent), not into f-strings (their words are free, and old Pythons misplace what is in them) or docstrings."""
    yield node, parent
    if isinstance(node, ast.JoinedStr):
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from walk(child, node)


def between(source, left, right):
    return source.span(left)[1], source.span(right)[0]


def without_each(source, whole, parts, brackets):
    """Yield changes that leave out one part of a display, a call or an and/or."""
    opening, joint, closing = brackets
    for gone in range(len(parts)):
        left = parts[:gone] + parts[gone + 1 :]
        tail = "," if brackets[0] == "(" and len(left) == 1 else ""
        yield source.span(whole), opening + joint.join(left) + tail + closing


# ---- what is changed: for each kind of node a function that yields (kind, span, new text)


def compare_changes(source, node, parent):
    sides = [node.left, *node.comparators]
    for op, left, right in zip(node.ops, sides, sides[1:]):
        exact = is_type_call(left) and isinstance(op, (ast.Is, ast.IsNot))
        for new in COMPARISONS[type(op)][: 1 if exact else None]:  # two types are equal when they are the same
            yield "comparison", between(source, left, right), f" {new} "
    if is_type_call(node.left) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        negation = "not " if isinstance(node.ops[0], ast.IsNot) else ""
        yield "exact type", source.span(node), f"{negation}isinstance({source.text(node.left.args[0])}, {source.text(node.comparators[0])})"


def boolean_changes(source, node, parent):
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:]):
        place = between(source, left, right)
        yield "boolean", place, source.data[place[0] : place[1]].decode("utf-8").replace(old, new)
    for place, text in without_each(source, node, list(map(source.text, node.values)), ("(", f" {old} ", ")")):
        yield "boolean", place, text.replace(",)", ")")


def negation_changes(source, node, parent):
    if isinstance(node.op, ast.Not):
        yield "boolean", source.span(node), source.text(node.operand)


def constant_changes(source, node, parent):
    for new in other_constants(node.value):
        yield "constant", source.span(node), new


def name_changes(source, node, parent):
    if not isinstance(node.ctx, ast.Load):
        return
    for new in source.limits.get(node.id, ()):
        yield "boundary", source.span(node), new
    if node.id in source.bases and isinstance(parent, ast.Call):
        base = source.bases[node.id]
        yield "exception", source.span(node), "ValueError" if base == "Exception" else base


def operator_changes(source, node, parent):
    if isinstance(node, ast.AugAssign):
        for new in (" = ", " -= "):
            yield "operator", between(source, node.target, node.value), new
    elif type(node.op) in OPERATORS:
        yield "operator", between(source, node.left, node.right), f" {OPERATORS[type(node.op)]} "


def slice_changes(source, node, parent):
    for bound in (node.lower, node.upper):
        if bound is not None:
            yield "boundary", source.span(bound), ""


def choice_changes(source, node, parent):
    yield "guard", source.span(node), f"({source.text(node.body)})"
    yield "guard", source.span(node), f"({source.text(node.orelse)})"


def dict_changes(source, node, parent):
    text = source.text
    parts = [f"**{text(value)}" if key is None else f"{text(key)}: {text(value)}" for key, value in zip(node.keys, node.values)]
    for place, new in without_each(source, node, parts, ("{", ", ", "}")):
        yield "key set", place, new


def display_changes(source, node, parent):
    if not isinstance(node.ctx, ast.Load):
        return
    brackets = ("[", ", ", "]") if isinstance(node, ast.List) else ("(", ", ", ")")
    kind = "exception" if isinstance(parent, ast.ExceptHandler) else "key set"
    for place, new in without_each(source, node, list(map(source.text, node.elts)), brackets):
        yield kind, place, new


def guard_changes(source, node, parent):
    for test in node.ifs if isinstance(node, ast.comprehension) else [node.test]:
        yield "guard", source.span(test), "True"
        yield "guard", source.span(test), "False"


def handler_changes(source, node, parent):
    caught = source.text(node.type)
    yield "exception", source.span(node.type), "Exception"
    for name, base in source.bases.items():
        if base == caught:
            yield "exception", source.span(node.type), name


def loop_changes(source, node, parent):
    if isinstance(node, ast.For):
        yield "loop", source.span(node.iter), f"list({source.text(node.iter)})[1:]"
        yield "loop", source.span(node.iter), f"list({source.text(node.iter)})[:-1]"
    else:
        yield "loop", source.span(node), "continue" if isinstance(node, ast.Break) else "break"


def is_type_call(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def other_constants(value):
    """Return texts of other constants of the same type."""
    if value is None:
        return ("0",)
    if value is True or value is False:
        return (str(not value),)
    if isinstance(value, (int, float)):
        return (repr(value + 1), repr(value - 1)) if isinstance(value, int) else (repr(value + 1),)
    return ('""', repr(value + "x")) if value else ('"x"',)


def call_changes(source, node, parent):
    text, span = source.text, source.span
    arguments = [*map(text, node.args), *(f"{word.arg}={text(word.value)}" if word.arg else f"**{text(word.value)}" for word in node.keywords)]
    for gone in range(len(arguments)):
        yield "argument", span(node), f"{text(node.func)}({', '.join(arguments[:gone] + arguments[gone + 1 :])})"
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in UNWRAPPED:
        inner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
        if inner is not None and not isinstance(inner, (ast.Constant, ast.GeneratorExp)):
            yield "strip", span(node), text(inner)
    if name in DECODERS and node.args:
        old = text(node.args[0])
        for repair in REPAIRS:
            new = repair.format(old)
            yield "repair", span(node.args[0]), f"({old} := {new})" if isinstance(node.args[0], ast.Name) else new
    if name == "isinstance":
        yield "exact type", span(node), f"(type({text(node.args[0])}) is {text(node.args[1])})"


CHANGES = {
    ast.Compare: compare_changes, ast.BoolOp: boolean_changes, ast.UnaryOp: negation_changes, ast.Constant: constant_changes,
    ast.Name: name_changes, ast.BinOp: operator_changes, ast.AugAssign: operator_changes, ast.Call: call_changes, ast.Slice: slice_changes,
    ast.IfExp: choice_changes, ast.Dict: dict_changes, ast.Tuple: display_changes, ast.List: display_changes,
    ast.comprehension: guard_changes, ast.If: guard_changes, ast.While: guard_changes, ast.ExceptHandler: handler_changes,
    ast.For: loop_changes, ast.Break: loop_changes, ast.Continue: loop_changes,
}


def changes(source, node, parent):
    """Yield (kind, span, new text) for each way to change one node."""
    if type(node) in CHANGES:
        yield from CHANGES[type(node)](source, node, parent)
    if isinstance(node, SIMPLE):
        yield "statement", source.span(node), "pass"
    if isinstance(node, ast.Return) and node.value is not None:
        yield "statement", source.span(node.value), "None"


def mutants(text):
    """Return [(what is changed, kind, the whole text)] for all changes that still compile, each once."""
    source, found, seen, times = Source(text), [], {text}, Counter()
    for place in sorted(frame.to_write(text)):
        top = source.tree.body[place]
        name = frame.defined(top)[0]
        for kind, span, new in (change for node, parent in walk(top) for change in changes(source, node, parent)):
            changed = source.changed(span, new)
            if changed in seen or not compiles(changed):
                continue
            seen.add(changed)
            what = f"{name}: {source.described(span, new)}"
            times[what] += 1
            found.append((what if times[what] == 1 else f"{what} (no. {times[what]})", kind, changed))
    return found


def compiles(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "is" with a literal, which the solution does not have
            compile(text, "mutant.py", "exec")
    except SyntaxError:
        return False
    return True


# ---- running them


def refusing_test(lab, name, text):
    """Return the name of the first test that a mutant does not pass, or None. The tests of the changed function come first."""
    try:
        tests = frame.tests_on(lab, text)
    except Exception as error:
        return f"it does not load: {error}"
    words = name.replace("_", "")
    for test in sorted(tests, key=lambda test: type(test).__name__.lower() != words):
        mark, = run_tests([test])
        if mark.verdict != PASSED:
            return mark.name
    return None


def serve(line):
    """In a child process: answer (lab, name, text) with the test that refuses it, until None comes."""
    for mutant in iter(line.recv, None):
        line.send(refusing_test(*mutant))


class Child:
    """A process that tries mutants; one that does not end is ended, and a new one takes its place."""

    def __init__(self):
        self.context = multiprocessing.get_context("spawn")
        self.start()

    def start(self):
        self.line, far_end = self.context.Pipe()
        self.process = self.context.Process(target=serve, args=(far_end,), daemon=True)
        self.process.start()
        far_end.close()

    def refusing_test(self, *mutant):
        try:
            self.line.send(mutant)
            if self.line.poll(LIMIT):
                return self.line.recv()
            reason = "it does not end"
        except (EOFError, OSError):
            reason = "its process ended"
        self.end()
        self.start()
        return reason

    def end(self):
        self.process.kill()
        self.process.join()
        self.line.close()


def try_all(lab, chosen):
    """Return {number of a mutant: the test that refuses it, or None} of those that the budget was enough for."""
    order, results, lock, end = list(range(len(chosen))), {}, threading.Lock(), time.monotonic() + BUDGET
    random.Random(0).shuffle(order)
    waiting = iter(order)

    def work():
        child = Child()
        while True:
            with lock:
                number = next(waiting, None)
            if number is None or time.monotonic() > end:
                break
            what, _, text = chosen[number]
            results[number] = child.refusing_test(lab, what.partition(":")[0], text)
        child.end()

    threads = [threading.Thread(target=work) for _ in range(PROCESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def explanations(lab):
    """Return {survivor: why} of the lab's file; ValueError for a line that explains nothing."""
    path, found = HERE / "mutate_survivors" / f"{lab}.txt", {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            what, _, why = line.partition(" || ")
            if not why.startswith(("equivalent: ", "allowed: ")) or what in found:
                raise ValueError(f"mutate_survivors/{path.name}: it is not an explanation, or the second of the same: {line}")
            found[what] = why
    return found


def try_lab(lab, names):
    """Try the mutants of these functions of a lab, or of all; print what survives; return how many lines are wrong."""
    started, text, known = time.monotonic(), solution_of(lab), explanations(lab)
    refused_by = refusing_test(lab, "", text)
    if refused_by:
        print(f"{lab}: the solution itself does not pass: {refused_by}")
        return 1
    chosen = [mutant for mutant in mutants(text) if not names or mutant[0].partition(":")[0] in names]
    results = try_all(lab, chosen)
    tried = [chosen[number] for number in sorted(results)]
    survivors = {chosen[number][0]: chosen[number][1] for number in sorted(results) if results[number] is None}
    made, alive = Counter(kind for _, kind, _ in tried), Counter(survivors.values())
    for kind, count in sorted(made.items()):
        print(f"  {kind:<11}{count:>4} mutants {alive[kind]:>3} survive")
    for what in survivors:
        print(f"{what} || {known.get(what, 'NOT EXPLAINED')}")
    unexplained = [what for what in survivors if what not in known]
    out_of_time = {what for what, _, _ in chosen} - {what for what, _, _ in tried}
    stale = [] if names else [what for what in known if what not in survivors and what not in out_of_time]
    for what in stale:
        print(f"explained, and no survivor any more: {what}")
    counts = f"{len(tried)} mutants, {len(tried) - len(survivors)} refused, {len(survivors)} survive"
    counts += f"; {len(unexplained)} not explained, {len(stale)} explanations without a survivor"
    counts += f"; {len(out_of_time)} not tried within {BUDGET:.0f} s" if out_of_time else ""
    print(f"{lab}: {counts} ({time.monotonic() - started:.0f} s)")
    return len(unexplained) + len(stale)


def main(words):
    """words: a lab or none, then names of its functions."""
    lab, *names = words or [""]
    if lab and lab not in LABS:
        print(f"mutate.py: expected a lab ({', '.join(LABS)}) and then functions of it, got {lab}", file=sys.stderr)
        return 2
    return 1 if sum([try_lab(each, names) for each in ([lab] if lab else LABS)]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
