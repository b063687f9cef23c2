"""Exceptions steer: KeyError, TypeError and assertions of its own are turned into refusals at one place each."""


class Broken(Exception):
    """Something about one field."""


class OverLimit(Exception):
    """A tool call too many."""


def claim(holds, field):
    if not holds:
        raise Broken(field)


def pairs_once(pairs):
    result = {}
    for key, value in pairs:
        claim(key not in result, key)
        result[key] = value
    return result


def constant(name):
    claim(False, name)


def inside(raw):
    claim(isinstance(raw, str), "the reply, which is not text")
    text = raw.strip()
    try:
        opening, middle = text.split("\n", 1)
        claim(opening.strip() in {"```", "```json"} and middle.endswith("```"), "fence")
        return middle[:-3]
    except (ValueError, Broken):
        return text


def decode(raw):
    try:
        record = json.loads(inside(raw), object_pairs_hook=pairs_once, parse_constant=constant)
        record.keys()
    except Broken as broken:
        raise TriageError(f"refused because of {broken}") from broken
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise TriageError(f"refused because of the reply: {type(error).__name__}") from error
    return record


def parse_triage(raw, categories):
    record = decode(raw)
    try:
        needs_human = record.pop("needs_human")
        summary = record.pop("summary")
        priority = record.pop("priority")
        category = record.pop("category")
        claim(not record, ", ".join(record))
        claim(needs_human in (True, False) and isinstance(needs_human, bool), "needs_human")
        claim(isinstance(summary, str), "summary")
        summary = summary.strip()
        claim(len(summary) in range(1, 121), "summary")
        claim(type(priority) == int and 0 < priority < 5, "priority")
        claim(isinstance(category, str) and category in categories, "category")
    except KeyError as error:
        raise TriageError(f"refused because of {error.args[0]}, which is missing") from error
    except Broken as broken:
        raise TriageError(f"refused because of {broken}") from broken
    return {"category": category, "priority": priority, "summary": summary, "needs_human": needs_human}


def run_tool_call(call, tools):
    try:
        claim(isinstance(call, dict), "the call")
        rest = dict(call)
        name, arguments = rest.pop("tool"), rest.pop("arguments")
        claim(not rest, " ".join(rest))
        claim(isinstance(name, str), "the tool's name")
        tool = tools[name]
        claim(isinstance(arguments, dict), "arguments")
        rest = dict(arguments)
        for parameter in tool["parameters"]:
            value = rest.pop(parameter)
            claim(isinstance(value, tool["parameters"][parameter]), parameter)
            claim(tool["parameters"][parameter] is not int or not isinstance(value, bool), parameter)
        claim(not rest, " ".join(rest))
    except KeyError as error:
        raise ToolCallError(f"no {error}") from error
    except Broken as broken:
        raise ToolCallError(f"not allowed: {broken}") from broken
    return name, tool["function"](**arguments)


def one_turn(raw, categories, tools, calls_left):
    """Return an answer or (name, result)."""
    record = decode(raw)
    if "tool" not in record:
        return parse_triage(raw, categories)
    if calls_left <= 0:
        raise OverLimit
    return run_tool_call(record, tools)


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    attempts = tool_calls = 0
    try:
        while attempts < max_attempts:
            raw = client(messages)
            messages += [{"role": "assistant", "content": raw}]
            try:
                outcome = one_turn(raw, categories, tools or {}, max_tool_calls - tool_calls)
            except TriageError as error:
                attempts += 1
                messages += [{"role": "user", "content": "Sorry, " + str(error)}]
                continue
            if isinstance(outcome, dict):
                outcome.update(attempts=attempts + 1, tool_calls=tool_calls, fallback=False)
                return outcome
            tool_calls += 1
            messages += [{"role": "tool", "name": outcome[0], "content": json.dumps(outcome[1])}]
    except OverLimit:
        pass
    return dict(category=None, priority=None, summary=ticket_text.strip()[:120], needs_human=True,
                attempts=attempts, tool_calls=tool_calls, fallback=True)


def judge(case, result):
    expected = case["expected"]
    claim(not result["fallback"], "fallback after %d refused replies" % result["attempts"])
    told = []
    for field in "needs_human", "category":
        if result[field] != expected[field]:
            told.append("{}: {!r} was expected, {!r} came".format(field, expected[field], result[field]))
    claim(not told, " and ".join(told))


def evaluate(cases, client_for, *, categories, tools=None):
    correct, fallbacks, failures = 0, 0, []
    for case in cases:
        result = triage(case["ticket"], client_for(case), categories=categories, tools=tools)
        fallbacks += int(result["fallback"])
        try:
            judge(case, result)
            correct += 1
        except Broken as broken:
            failures.append(dict(id=case["id"], reason=str(broken)))
    total = correct + len(failures)
    try:
        accuracy = round(correct / total, 3)
    except ZeroDivisionError:
        accuracy = 0.0
    return dict(total=total, correct=correct, fallbacks=fallbacks, schema_valid=total - fallbacks, accuracy=accuracy, failures=failures)
