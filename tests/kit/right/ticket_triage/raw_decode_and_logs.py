"""Decodes with raw_decode and looks at what follows; logs as it goes (what is below a warning is not shown); deep copies of everything."""

import copy
import logging
import string

log = logging.getLogger("triage")


def take_fence(text):
    if text.count("```") < 2 or not text.startswith("```"):
        return text
    newline = text.find("\n")
    if newline < 0 or text[3:newline].strip(string.whitespace) not in ("", "json"):
        return text
    closing = text.rfind("```")
    if closing < newline or closing + 3 != len(text):
        return text
    return text[newline + 1 : closing]


def keep_all(pairs):
    return Pairs(pairs)


class Pairs(list):
    """An object as the list of its pairs."""


def as_dict(value):
    """Return value with each Pairs in it made a dict; a name that stands twice is refused. No recursion: deep values may come."""
    holder = [value]
    waiting = [(holder, 0)]
    while waiting:
        place, key = waiting.pop()
        value = place[key]
        if isinstance(value, Pairs):
            made = {}
            for name, item in value:
                if name in made:
                    raise TriageError(f"{name}: twice")
                made[name] = item
            place[key] = made
            waiting += [(made, name) for name in made]
        elif isinstance(value, list):
            waiting += [(value, number) for number in range(len(value))]
    return holder[0]


def no(name):
    raise ValueError(name)


def decoded(raw):
    log.debug("reply: %.70s", ascii(raw) if isinstance(raw, str) else type(raw))
    if not isinstance(raw, str):
        raise TriageError("reply: no text")
    text = take_fence(raw.strip()).strip()
    try:
        value, end = json.JSONDecoder(object_pairs_hook=keep_all, parse_constant=no).raw_decode(text)
    except (ValueError, RecursionError) as error:
        log.info("no JSON: %s", error)
        raise TriageError("reply: no JSON") from None
    if text[end:].strip():
        raise TriageError("reply: more than JSON")
    if not isinstance(value, Pairs):
        raise TriageError("reply: no object")
    return as_dict(value)


def refuse_unless(condition, message, error=TriageError):
    if not condition:
        log.info("%s", message)
        raise error(message)


def parse_triage(raw, categories):
    value = decoded(raw)
    for name in FIELDS:
        refuse_unless(name in value, f"{name}: not found")
    refuse_unless(len(value) == len(FIELDS), f"too many: {set(value).difference(FIELDS)}")
    category, priority, summary, needs_human = map(value.get, FIELDS)
    refuse_unless(isinstance(category, str), "category: no str")
    refuse_unless(category in copy.copy(categories), f"category: {category!a}")
    refuse_unless(not isinstance(priority, bool), "priority: a bool")
    refuse_unless(isinstance(priority, int), "priority: no int")
    refuse_unless(0 < priority < 5, f"priority: {str(priority)[:9]}")
    refuse_unless(isinstance(summary, str), "summary: no str")
    summary = summary.strip()
    refuse_unless(summary != "", "summary: empty")
    refuse_unless(len(summary) <= 120, f"summary: {len(summary)} characters")
    refuse_unless(isinstance(needs_human, bool), "needs_human: no bool")
    return dict(zip(FIELDS, (category, priority, summary, needs_human)))


def run_tool_call(call, tools):
    refuse_unless(isinstance(call, dict), "call: no dict", ToolCallError)
    missing = [key for key in ("tool", "arguments") if call.get(key, call) is call]
    refuse_unless(not missing, f"missing: {missing}", ToolCallError)
    refuse_unless(len(call) == 2, f"too many: {call.keys() - {'tool', 'arguments'}}", ToolCallError)
    name = call["tool"]
    refuse_unless(isinstance(name, str), "tool: no str", ToolCallError)
    refuse_unless(name in tools, f"tool: {name}", ToolCallError)
    arguments = call["arguments"]
    refuse_unless(isinstance(arguments, dict), "arguments: no dict", ToolCallError)
    parameters = tools[name]["parameters"]
    refuse_unless(set(arguments) <= set(parameters), f"too many: {set(arguments) - set(parameters)}", ToolCallError)
    missing = set(parameters) - set(arguments)
    refuse_unless(not missing, f"missing: {missing}", ToolCallError)
    for parameter, kind in parameters.items():
        value = arguments[parameter]
        right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        refuse_unless(right, f"{parameter}: {type(value).__name__}", ToolCallError)
    result = tools[name]["function"](**copy.deepcopy(arguments))
    log.debug("%s gave %.70a", name, result)
    return name, result


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    said = build_messages(ticket_text, categories, tools)
    good, attempt, tool_calls = None, 1, 0
    while attempt <= max_attempts:
        raw = client(copy.deepcopy(said))
        said.append({"content": copy.deepcopy(raw), "role": "assistant"})
        try:
            value = decoded(raw)
            if "tool" not in value:
                good = parse_triage(raw, categories)
                break
            if tool_calls >= max_tool_calls:
                break
            name, result = run_tool_call(value, copy.copy(tools) or {})
        except TriageError as error:
            attempt = attempt + 1
            said.append({"content": f"{error}", "role": "user"})
            continue
        tool_calls = tool_calls + 1
        said.append({"content": json.dumps(result), "role": "tool", "name": name})
    log.info("after %d attempts and %d tool calls: %s", attempt, tool_calls, good)
    if good:
        good.update(attempts=attempt, tool_calls=tool_calls, fallback=False)
        return good
    nobody = {"category": None, "priority": None, "summary": ticket_text.strip()[:120], "needs_human": True}
    return {**nobody, "attempts": attempt - 1, "tool_calls": tool_calls, "fallback": True}


def evaluate(cases, client_for, *, categories, tools=None):
    cases = list(cases)
    results = []
    for case in cases:
        results.append(triage(case["ticket"], client_for(case), categories=categories, tools=tools))
    failures = []
    for number, case in enumerate(cases):
        lines = []
        if results[number]["fallback"]:
            lines.append("no answer, fallback")
        else:
            for field in ("category", "needs_human"):
                expected, got = case["expected"][field], results[number][field]
                if expected != got:
                    lines.append(f"{field}: {json.dumps(expected)} expected, {json.dumps(got)} came")
        if lines:
            failures.append({"id": case["id"], "reason": "\n".join(lines)})
    total, fallbacks = len(cases), len([result for result in results if result["fallback"]])
    return {
        "total": total, "correct": total - len(failures), "fallbacks": fallbacks, "schema_valid": total - fallbacks,
        "accuracy": round((total - len(failures)) / total, 3) if total else 0.0, "failures": failures,
    }
