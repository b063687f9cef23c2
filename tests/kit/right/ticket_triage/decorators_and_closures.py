"""Decorators turn exceptions into refusals, closures hold the checks, reduce and partial do the counting."""

import functools


def refusing(error_class, *kinds):
    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except error_class:
                raise
            except kinds as error:
                raise error_class(f"{function.__name__}: {type(error).__name__} {str(error)[:80]}") from error

        return wrapped

    return decorate


def pairs_hook(pairs):
    def add(record, pair):
        if pair[0] in record:
            raise TriageError(f"{pair[0]} has two values")
        return {**record, pair[0]: pair[1]}

    return functools.reduce(add, pairs, {})


def constant_hook(name):
    raise ValueError(f"{name} is not a number")


@refusing(TriageError, ValueError, RecursionError, TypeError)
def object_of(raw):
    if not isinstance(raw, str):
        raise TypeError("a reply is text")
    text = raw.strip()
    lines = text.split("\n")
    if lines[0] in ("```", "```json") and len(lines) > 1 and text.endswith("```"):
        text = "\n".join(lines[1:])[:-3]
    record = json.loads(text, object_pairs_hook=pairs_hook, parse_constant=constant_hook)
    if not isinstance(record, dict):
        raise TypeError("a reply is an object")
    return record


def checker(field, *conditions):
    def check(record):
        if not all(condition(record[field]) for condition in conditions):
            raise TriageError(f"{field} is not as it should be")

    return check


def is_a(kind):
    return lambda value: type(value) is kind


@refusing(TriageError, KeyError)
def parse_triage(raw, categories):
    record = object_of(raw)
    checks = [
        checker("needs_human", is_a(bool)),
        checker("summary", is_a(str), lambda text: text.strip(), lambda text: len(text.strip()) <= 120),
        checker("priority", is_a(int), lambda number: number >= 1, lambda number: number <= 4),
        checker("category", is_a(str), lambda name: name in categories),
    ]
    for check in checks:
        check(record)
    if len(record) > len(checks):
        names = ", ".join(name for name in record if name not in ("category", "priority", "summary", "needs_human"))
        raise TriageError(f"{names} should not be there")
    return dict(record, summary=record["summary"].strip())


def split_call(call):
    names = set(call)
    names.remove("tool")
    names.remove("arguments")
    for name in names:
        raise ToolCallError(f"{name} should not be there")
    return call["tool"], call["arguments"]


@refusing(ToolCallError, KeyError, TypeError)
def lookup(call, tools):
    """Return (name, tool, arguments) of a call that is right but for the values."""
    if not isinstance(call, dict):
        raise TypeError("a call is an object")
    name, arguments = split_call(call)
    tool = tools[name]
    if not isinstance(arguments, dict):
        raise TypeError("arguments are an object")
    for parameter in tool["parameters"]:
        arguments[parameter]
    for parameter in arguments:
        tool["parameters"][parameter]
    return name, tool, arguments


def run_tool_call(call, tools):
    name, tool, arguments = lookup(call, tools)
    for parameter in sorted(arguments):
        kind = tool["parameters"][parameter]
        if type(arguments[parameter]) is not kind:
            raise ToolCallError(f"{parameter} is not a {kind.__name__}")
    return name, functools.partial(tool["function"], **arguments)()


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    turns = []  # True for a tool call that ran, False for a refused reply

    def finish(attempts, **answer):
        return {**answer, "attempts": attempts, "tool_calls": turns.count(True)}

    while turns.count(False) != max_attempts:
        raw = client(messages)
        messages.append({"role": "assistant", "content": raw})
        try:
            record = object_of(raw)
            if "tool" in record.keys():
                if turns.count(True) == max_tool_calls:
                    break
                name, result = run_tool_call(record, tools or {})
                turns.append(True)
                messages.append({"role": "tool", "name": name, "content": json.dumps(result)})
            else:
                return finish(turns.count(False) + 1, **parse_triage(raw, categories), fallback=False)
        except TriageError as error:
            turns.append(False)
            messages.append({"role": "user", "content": f"<error>{error}</error>"})
    return finish(
        turns.count(False), category=None, priority=None, summary=ticket_text.strip()[:120], needs_human=True, fallback=True
    )


def evaluate(cases, client_for, *, categories, tools=None):
    ask = functools.partial(triage, categories=categories, tools=tools)

    def add(report, case):
        result = ask(case["ticket"], client_for(case))
        wrong = {name for name in ("category", "needs_human") if result[name] != case["expected"][name]}
        told = ["%s %s, not %s" % (name, result[name], case["expected"][name]) for name in sorted(wrong)]
        reason = "it had to fall back" if result["fallback"] else "; ".join(told)
        failure = [{"id": case["id"], "reason": reason}] if wrong or result["fallback"] else []
        return (report[0] + 1, report[1] + result["fallback"], report[2] + failure)

    total, fallbacks, failures = functools.reduce(add, cases, (0, 0, []))
    correct = total - len(failures)
    return {
        "total": total, "correct": correct, "fallbacks": fallbacks, "schema_valid": total - fallbacks,
        "accuracy": round(correct / (total or 1), 3), "failures": failures,
    }
