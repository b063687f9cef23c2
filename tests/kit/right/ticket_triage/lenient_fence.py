"""Every fence that is free to take: upper-case info, blanks, one line, longer fences; blanks of JSON only are stripped."""

import re

BLANKS = " \t\r\n"


def take_off_fence(text):
    opening = re.match(r"(`{3,})[ \t]*(json)?[ \t]*(\n|(?=\{))", text, re.IGNORECASE)
    if opening is None:
        return text
    closing = text[opening.end() :]
    ticks = len(opening[1])
    if not closing.endswith("`" * ticks):
        return text
    return closing[:-ticks].strip(BLANKS)


def no_twins(pairs):
    twins = [name for place, (name, _) in enumerate(pairs) if name in [other for other, _ in pairs[:place]]]
    if twins:
        raise TriageError(f"twins: {', '.join(twins)}")
    return dict(pairs)


def no_numbers(name):
    raise TriageError(f"{name} is a Python word")


READER = json.JSONDecoder(object_pairs_hook=no_twins, parse_constant=no_numbers)


def read(raw):
    if not isinstance(raw, str):
        raise TriageError("a reply is a text")
    try:
        value = READER.decode(take_off_fence(raw.strip(BLANKS)))
    except (ValueError, RecursionError) as error:
        raise TriageError(f"reply {raw[:30]!r}...: {error}") from error
    if isinstance(value, dict):
        return value
    raise TriageError(f"reply {raw[:30]!r}...: no object")


def parse_triage(raw, categories):
    value = read(raw)
    where = f"in the reply {raw[:30]!r}...: "
    if set(value) != set(FIELDS):
        raise TriageError(where + " and ".join(sorted(set(value).symmetric_difference(FIELDS))))
    category, priority, summary, needs_human = [value[field] for field in FIELDS]
    if type(category) is not str or not {category} & set(categories):
        raise TriageError(where + "category")
    if type(priority) is not int or priority not in PRIORITIES:
        raise TriageError(where + "priority")
    if type(summary) is not str or not summary.strip() or summary.strip()[120:]:
        raise TriageError(where + "summary")
    if type(needs_human) is not bool:
        raise TriageError(where + "needs_human")
    return {"category": category, "priority": priority, "summary": summary.strip(), "needs_human": needs_human}


def run_tool_call(call, tools):
    if not isinstance(call, dict):
        raise ToolCallError("no object")
    for key in set(call).symmetric_difference(("tool", "arguments")):
        raise ToolCallError(f"key {key}")
    name, arguments = call["tool"], call["arguments"]
    if not isinstance(name, str):
        raise ToolCallError("tool: no name")
    tool = tools.get(name)
    if tool is None:
        raise ToolCallError(f"tool {name}")
    if not isinstance(arguments, dict):
        raise ToolCallError("arguments")
    for parameter in set(arguments).symmetric_difference(tool["parameters"]):
        raise ToolCallError(f"parameter {parameter}")
    for parameter, value in arguments.items():
        kind = tool["parameters"][parameter]
        if type(value) is not kind:
            raise ToolCallError(f"parameter {parameter} {type(value).__name__} {kind.__name__}")
    return name, tool["function"](**arguments)


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    conversation = build_messages(ticket_text, categories, tools)
    refused = ran = 0
    fallback = lambda: {
        "category": None, "priority": None, "summary": ticket_text.strip()[:120], "needs_human": True,
        "attempts": refused, "tool_calls": ran, "fallback": True,
    }
    while True:
        raw = client(conversation.copy())
        conversation.append({"role": "assistant", "content": raw})
        try:
            value = read(raw)
            if "tool" not in value:
                return {**parse_triage(raw, categories), "attempts": 1 + refused, "tool_calls": ran, "fallback": False}
            if ran == max_tool_calls:
                return fallback()
            name, result = run_tool_call(value, tools if tools else {})
        except ToolCallError as error:
            words = f"The tool did not run. {error}"
        except TriageError as error:
            words = f"The answer cannot be used. {error}"
        else:
            ran += 1
            conversation.append({"role": "tool", "name": name, "content": json.dumps(result)})
            continue
        refused += 1
        if refused == max_attempts:
            return fallback()
        conversation.append({"role": "user", "content": words})


def evaluate(cases, client_for, *, categories, tools=None):
    from collections import Counter

    counter, failures = Counter(), []
    for counter["total"], case in enumerate(cases, 1):
        client = client_for(case)
        result = triage(case["ticket"], client, categories=categories, tools=tools)
        wanted = case["expected"]
        if result["fallback"]:
            counter["fallbacks"] += 1
            reason = "fallback"
        elif result["category"] == wanted["category"] and result["needs_human"] is wanted["needs_human"]:
            counter["correct"] += 1
            continue
        else:
            reason = " | ".join(f"{k} {wanted[k]} -> {result[k]}" for k in ("category", "needs_human") if wanted[k] != result[k])
        failures += [{"id": case["id"], "reason": reason}]
    total, correct, fallbacks = (counter[name] for name in ("total", "correct", "fallbacks"))
    accuracy = round(correct / total, 3) if total else 0.0
    return dict(total=total, correct=correct, fallbacks=fallbacks, schema_valid=total - fallbacks, accuracy=accuracy, failures=failures)
