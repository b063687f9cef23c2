"""Changes the solution in one small place at a time, and looks whether the fifteen tests notice.

    python tests/kit/mutate.py             counts, every survivor, exit 1 when one is not explained
    python tests/kit/mutate.py triage      the mutants of one function (or helper) alone, and no check of the explanations

What is changed: the four functions to write and their helpers. A mutant that no test refuses is a survivor. Each has a line in
mutate_survivors.txt that says why: `function: old => new || equivalent: why no input tells them apart`, or
`|| allowed: what the contract leaves open`. A line without a survivor is an error as well.
"""

import ast
import multiprocessing
import re
import sys
import threading
import time
import types
from collections import Counter

import frame
from grading import PASSED, run_tests, tests_of

EXPLANATIONS = frame.KIT / "tests" / "kit" / "mutate_survivors.txt"
LIMIT = 20.0  # seconds for one mutant; the tests need 0.1
PROCESSES = 2
COMPARISONS = {
    ast.Lt: ("<=", ">"), ast.LtE: ("<", ">="), ast.Gt: (">=", "<"), ast.GtE: (">", "<="), ast.Eq: ("!=", ">="), ast.NotEq: ("==",),
    ast.In: ("not in",), ast.NotIn: ("in",), ast.Is: ("is not", "=="), ast.IsNot: ("is", "!="),
}
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
NAMES = {  # what a name of the solution is changed to
    "SUMMARY_LIMIT": ("(SUMMARY_LIMIT + 1)", "(SUMMARY_LIMIT - 1)"),
    "PRIORITIES": ("range(1, 4)", "range(1, 6)", "range(0, 5)", "range(2, 5)"),
    "FIELDS": ("FIELDS[1:]", "FIELDS[:-1]", "(*FIELDS, 'tool')"),
}
UNWRAPPED = {"strip", "rstrip", "lstrip", "lower", "sorted", "set", "list", "tuple", "dict", "len", "next", "round", "show"}
COMMENT = re.compile(r"  # .*")
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Return, ast.Break, ast.Continue)


class Source:
    """A source text, and the text and place of its nodes. Columns are counted in bytes, so the text is kept as bytes."""

    def __init__(self, text):
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


def changes(source, node, parent):
    """Yield (kind, span, new text) for each way to change one node."""
    text, span = source.text, source.span
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:]):
            for new in COMPARISONS[type(op)]:
                yield "comparison", between(source, left, right), f" {new} "
        if is_type_call(node.left) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            negation = "not " if isinstance(node.ops[0], ast.IsNot) else ""
            yield "exact type", span(node), f"{negation}isinstance({text(node.left.args[0])}, {text(node.comparators[0])})"
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:]):
            place = between(source, left, right)
            swapped = source.data[place[0] : place[1]].decode("utf-8").replace(old, new)
            yield "boolean", place, swapped
        for kind_span, new in without_each(source, node, list(map(text, node.values)), ("(", f" {old} ", ")")):
            yield "boolean", kind_span, new.replace(",)", ")")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "boolean", span(node), text(node.operand)
    elif isinstance(node, ast.Constant):
        for new in other_constants(node.value):
            yield "constant", span(node), new
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for new in NAMES.get(node.id, ()):
            yield "boundary", span(node), new
        if node.id == "TriageError" and isinstance(parent, ast.Call):
            yield "exception", span(node), "ValueError"
        if node.id == "ToolCallError" and isinstance(parent, ast.Call):
            yield "exception", span(node), "TriageError"
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield "operator", between(source, node.left, node.right), f" {OPERATORS[type(node.op)]} "
    elif isinstance(node, ast.Call):
        yield from call_changes(source, node)
    elif isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound is not None:
                yield "boundary", span(bound), ""
    elif isinstance(node, ast.IfExp):
        yield "guard", span(node), f"({text(node.body)})"
        yield "guard", span(node), f"({text(node.orelse)})"
    elif isinstance(node, ast.Dict):
        parts = [f"**{text(value)}" if key is None else f"{text(key)}: {text(value)}" for key, value in zip(node.keys, node.values)]
        for place, new in without_each(source, node, parts, ("{", ", ", "}")):
            yield "key set", place, new
    elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        brackets = ("[", ", ", "]") if isinstance(node, ast.List) else ("(", ", ", ")")
        kind = "exception" if isinstance(parent, ast.ExceptHandler) else "key set"
        for place, new in without_each(source, node, list(map(text, node.elts)), brackets):
            yield kind, place, new
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield "guard", span(test), "True"
            yield "guard", span(test), "False"
    elif isinstance(node, ast.ExceptHandler):
        yield "exception", span(node.type), "Exception"
        if text(node.type) == "TriageError":
            yield "exception", span(node.type), "ToolCallError"
    elif isinstance(node, (ast.If, ast.While)):
        yield "guard", span(node.test), "True"
        yield "guard", span(node.test), "False"
    elif isinstance(node, ast.For):
        yield "loop", span(node.iter), f"list({text(node.iter)})[1:]"
        yield "loop", span(node.iter), f"list({text(node.iter)})[:-1]"
    if isinstance(node, SIMPLE):
        yield "statement", span(node), "pass"
    if isinstance(node, ast.Break):
        yield "loop", span(node), "continue"
    if isinstance(node, ast.Continue):
        yield "loop", span(node), "break"
    if isinstance(node, ast.Return) and node.value is not None:
        yield "statement", span(node.value), "None"
    if isinstance(node, ast.AugAssign):
        yield "operator", between(source, node.target, node.value), " = "
        yield "operator", between(source, node.target, node.value), " -= "


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


def call_changes(source, node):
    text, span = source.text, source.span
    arguments = [*map(text, node.args), *(f"{word.arg}={text(word.value)}" if word.arg else f"**{text(word.value)}" for word in node.keywords)]
    for gone in range(len(arguments)):
        yield "argument", span(node), f"{text(node.func)}({', '.join(arguments[:gone] + arguments[gone + 1 :])})"
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in UNWRAPPED:
        inner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
        if inner is not None and not isinstance(inner, (ast.Constant, ast.GeneratorExp)):
            yield "strip", span(node), text(inner)
    if name == "isinstance":
        yield "exact type", span(node), f"(type({text(node.args[0])}) is {text(node.args[1])})"


def mutants(text):
    """Return [(what is changed, kind, the whole text)] for all changes that still compile, each once."""
    source, found, seen = Source(text), [], set()
    for top in ast.parse(text).body:
        if not frame.to_write(top):
            continue
        name = sorted(frame.defined(top))[0]
        for node, parent in walk(top):
            for kind, span, new in changes(source, node, parent):
                changed = source.changed(span, new)
                if changed == text or changed in seen:
                    continue
                try:
                    compile(changed, name, "exec")
                except SyntaxError:
                    continue
                seen.add(changed)
                found.append((f"{name}: {source.described(span, new)}", kind, changed))
    times = Counter()
    numbered = []
    for what, kind, changed in found:
        times[what] += 1
        numbered.append((what if times[what] == 1 else f"{what} (no. {times[what]})", kind, changed))
    return numbered


# ---- running them


def refusing_test(name, text):
    """Return the name of the first test that a mutant does not pass, or None. The tests of the changed function come first."""
    module = types.ModuleType("ticket_triage")
    tests = tests_of("ticket_triage", module)
    try:
        exec(compile(text, "mutant.py", "exec", dont_inherit=True), vars(module))
    except Exception as error:
        return f"it does not load: {error}"
    words = name.replace("_", "")
    for test in sorted(tests, key=lambda test: type(test).__name__.lower() != words):
        mark, = run_tests([test])
        if mark.verdict != PASSED:
            return mark.name
    return None


def serve(line):
    """In a child process: answer (name, text) with the test that refuses it, until None comes."""
    for name, text in iter(line.recv, None):
        line.send(refusing_test(name, text))


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

    def refusing_test(self, name, text):
        try:
            self.line.send((name, text))
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


def try_all(chosen):
    """Return for each mutant the test that refuses it, or None."""
    results, waiting, lock = [None] * len(chosen), iter(range(len(chosen))), threading.Lock()

    def work():
        child = Child()
        while True:
            with lock:
                number = next(waiting, None)
            if number is None:
                break
            what, _, text = chosen[number]
            results[number] = child.refusing_test(what.partition(":")[0], text)
        child.end()

    threads = [threading.Thread(target=work) for _ in range(PROCESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def explanations():
    """Return {survivor: why} of the file; ValueError for a line that explains nothing."""
    found = {}
    if not EXPLANATIONS.exists():
        return found
    for line in EXPLANATIONS.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            what, _, why = line.partition(" || ")
            if not why.startswith(("equivalent: ", "allowed: ")) or what in found:
                raise ValueError(f"{EXPLANATIONS.name}: it is no explanation, or the second of the same: {line}")
            found[what] = why
    return found


def main(arguments):
    started = time.monotonic()
    text = frame.SOLUTION.read_text(encoding="utf-8")
    if refusing_test("parse_triage", text) is not None:
        print("the solution itself does not pass the tests")
        return 1
    chosen = [mutant for mutant in mutants(text) if not arguments or mutant[0].partition(":")[0] in arguments]
    results = try_all(chosen)
    survivors = {what: kind for (what, kind, _), refused_by in zip(chosen, results) if refused_by is None}
    known = explanations()
    made, alive = Counter(kind for _, kind, _ in chosen), Counter(survivors.values())
    print(f"{len(chosen)} mutants, {len(chosen) - len(survivors)} refused, {len(survivors)} survive ({time.monotonic() - started:.0f} s)")
    for kind, count in sorted(made.items()):
        print(f"  {kind:<11}{count:>4} mutants {alive[kind]:>3} survive")
    for what in survivors:
        print(f"{what} || {known.get(what, 'NOT EXPLAINED')}")
    unexplained = [what for what in survivors if what not in known]
    stale = [] if arguments else [what for what in known if what not in survivors]
    for what in stale:
        print(f"explained, and no survivor any more: {what}")
    print(f"{len(unexplained)} survivors are not explained, {len(stale)} explanations have no survivor")
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
