"""Guards one below the other, json.loads, one growing message list, string methods for the fence."""


def _unfence(text):
    text = text.strip()
    if not text.startswith("```") or not text.endswith("```") or "\n" not in text:
        return text
    first, rest = text.split("\n", 1)
    if first != "```" and first != "```json":
        return text
    return rest[:-3]


def _pairs(pairs):
    found = {}
    for key, value in pairs:
        if key in found:
            raise TriageError("duplicate key " + repr(key))
        found[key] = value
    return found


def _constant(word):
    raise ValueError(word)


def _load(raw):
    if not isinstance(raw, str):
        raise TriageError("the reply is not text")
    try:
        data = json.loads(_unfence(raw), object_pairs_hook=_pairs, parse_constant=_constant)
    except TriageError:
        raise
    except (ValueError, RecursionError):
        raise TriageError("the reply is not JSON") from None
    if not isinstance(data, dict):
        raise TriageError("the reply is not a JSON object")
    return data


def parse_triage(raw, categories):
    data = _load(raw)
    for key in ("category", "priority", "summary", "needs_human"):
        if key not in data:
            raise TriageError("missing " + key)
    for key in data:
        if key not in ("category", "priority", "summary", "needs_human"):
            raise TriageError("unknown " + key)
    if not isinstance(data["category"], str) or data["category"] not in categories:
        raise TriageError("bad category")
    priority = data["priority"]
    if isinstance(priority, bool) or not isinstance(priority, int) or priority < 1 or priority > 4:
        raise TriageError("bad priority")
    if not isinstance(data["summary"], str):
        raise TriageError("bad summary")
    data["summary"] = data["summary"].strip()
    if data["summary"] == "" or len(data["summary"]) > 120:
        raise TriageError("bad summary")
    if data["needs_human"] is not True and data["needs_human"] is not False:
        raise TriageError("bad needs_human")
    return data


def run_tool_call(call, tools):
    if not isinstance(call, dict):
        raise ToolCallError("a tool call is an object")
    for key in call:
        if key != "tool" and key != "arguments":
            raise ToolCallError("unknown key " + str(key))
    if "tool" not in call:
        raise ToolCallError("missing key tool")
    if "arguments" not in call:
        raise ToolCallError("missing key arguments")
    name = call["tool"]
    if not isinstance(name, str):
        raise ToolCallError("the tool's name is not text")
    if name not in tools:
        raise ToolCallError("unknown tool " + name)
    given = call["arguments"]
    if not isinstance(given, dict):
        raise ToolCallError("arguments is not an object")
    wanted = tools[name]["parameters"]
    for key in given:
        if key not in wanted:
            raise ToolCallError("unknown parameter " + key)
    for key in wanted:
        if key not in given:
            raise ToolCallError("missing parameter " + key)
        if wanted[key] is int and isinstance(given[key], bool):
            raise ToolCallError("a bool is not an int: " + key)
        if not isinstance(given[key], wanted[key]):
            raise ToolCallError("wrong type: " + key)
    return name, tools[name]["function"](**given)


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    bad = 0
    ran = 0
    while True:
        raw = client(messages)
        messages.append({"role": "assistant", "content": raw})
        try:
            data = _load(raw)
            if "tool" in data:
                if ran >= max_tool_calls:
                    break
                if tools is None:
                    raise ToolCallError("this ticket has no tools")
                name, result = run_tool_call(data, tools)
                ran += 1
                messages.append({"role": "tool", "name": name, "content": json.dumps(result)})
                continue
            answer = parse_triage(raw, categories)
        except TriageError as error:
            bad += 1
            if bad >= max_attempts:
                break
            messages.append({"role": "user", "content": str(error)})
            continue
        answer["attempts"] = bad + 1
        answer["tool_calls"] = ran
        answer["fallback"] = False
        return answer
    return {
        "category": None, "priority": None, "summary": ticket_text.strip()[:120], "needs_human": True,
        "attempts": bad, "tool_calls": ran, "fallback": True,
    }


def evaluate(cases, client_for, *, categories, tools=None):
    total = correct = fallbacks = 0
    failures = []
    for case in cases:
        total += 1
        got = triage(case["ticket"], client_for(case), categories=categories, tools=tools)
        if got["fallback"]:
            fallbacks += 1
            failures.append({"id": case["id"], "reason": "fallback"})
            continue
        expected = case["expected"]
        reason = ""
        if got["category"] != expected["category"]:
            reason += "category should be %s and is %s. " % (expected["category"], got["category"])
        if got["needs_human"] != expected["needs_human"]:
            reason += "needs_human should be %s and is %s." % (expected["needs_human"], got["needs_human"])
        if reason:
            failures.append({"id": case["id"], "reason": reason})
        else:
            correct += 1
    accuracy = 0.0
    if total > 0:
        accuracy = round(correct / total, 3)
    return {
        "total": total, "correct": correct, "fallbacks": fallbacks, "schema_valid": total - fallbacks,
        "accuracy": accuracy, "failures": failures,
    }
