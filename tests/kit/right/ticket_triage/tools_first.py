"""Looks for a tool call first; a malformed call over the limit costs an attempt (free), and a tool's own TriageError passes through (free)."""


def validate_call(call, tools):
    """Return (name, function, arguments), with nothing run yet."""
    if not isinstance(call, dict):
        raise ToolCallError("call: must be an object")
    arguments_missing, tool_missing = "arguments" not in call, "tool" not in call
    if tool_missing or arguments_missing:
        raise ToolCallError("call: no " + ("tool" if tool_missing else "arguments"))
    extras = [key for key in call if key not in ("tool", "arguments")]
    if extras:
        raise ToolCallError("call: extra " + ", ".join(extras))
    name, arguments = call["tool"], call["arguments"]
    if not isinstance(arguments, dict):
        raise ToolCallError("call: arguments must be an object")
    known = next((tool for known, tool in tools.items() if known == name), None)
    if known is None:
        raise ToolCallError("call: unknown tool %s" % (name if isinstance(name, str) else "(no text)"))
    parameters = known["parameters"]
    for parameter in parameters:
        if parameter not in arguments:
            raise ToolCallError("argument %s is missing" % parameter)
    for argument, value in arguments.items():
        kind = parameters.get(argument)
        if kind is None:
            raise ToolCallError("argument %s is not known" % argument)
        if kind is int:
            good = isinstance(value, int) and value is not True and value is not False
        else:
            good = isinstance(value, kind)
        if not good:
            raise ToolCallError("argument %s must be %s" % (argument, kind.__name__))
    return name, known["function"], arguments


def run_tool_call(call, tools):
    name, function, arguments = validate_call(call, tools)
    result = function(**arguments)
    return (name, result)


class Once(dict):
    """A dict that takes each key once."""

    def __setitem__(self, key, value):
        if key in self:
            raise TriageError("%s: there are two of it" % key)
        super().__setitem__(key, value)


def once(pairs):
    record = Once()
    for key, value in pairs:
        record[key] = value
    return dict(record)


def number(text):
    raise TriageError(text + " is not a JSON number")


def to_object(raw):
    if not isinstance(raw, str):
        raise TriageError("not a str")
    text = raw.strip()
    if text[:3] == "```" and text[-3:] == "```" and len(text) >= 6:
        head = text.split("\n")[0]
        if head in ("```", "```json"):
            text = text[len(head) : len(text) - 3].strip()
    try:
        parsed = json.loads(text, parse_constant=number, object_pairs_hook=once)
    except RecursionError:
        raise TriageError("too deep")
    except ValueError as error:
        raise TriageError("not JSON: %s" % error)
    if not isinstance(parsed, dict):
        raise TriageError("not an object")
    return parsed


def check_summary(value):
    if not isinstance(value, str):
        return None
    value = value.strip()
    return value if value and len(value) <= 120 else None


def parse_triage(raw, categories):
    parsed = to_object(raw)
    names = ["needs_human", "summary", "priority", "category"]
    for name in names:
        if name not in parsed:
            raise TriageError("no " + name)
    if len(parsed) != 4:
        raise TriageError("too many: " + ", ".join(key for key in parsed if key not in names))
    if parsed["needs_human"] not in (True, False) or isinstance(parsed["needs_human"], (int, float)) and not isinstance(parsed["needs_human"], bool):
        raise TriageError("needs_human")
    summary = check_summary(parsed["summary"])
    if summary is None:
        raise TriageError("summary")
    if str(type(parsed["priority"])) != "<class 'int'>" or not (1 <= parsed["priority"] <= 4):
        raise TriageError("priority")
    if not isinstance(parsed["category"], str) or parsed["category"] not in categories:
        raise TriageError("category")
    result = dict.fromkeys(FIELDS)
    result.update(parsed)
    result["summary"] = summary
    return result


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = list(build_messages(ticket_text, categories, tools))
    bad_replies = 0
    calls = 0
    answer = None
    while answer is None and bad_replies < max_attempts:
        raw = client(messages)
        messages.append(dict(role="assistant", content=raw))
        problem = None
        checked = None
        try:
            parsed = to_object(raw)
            if "tool" in parsed:
                checked = validate_call(parsed, tools if tools is not None else {})
            else:
                answer = parse_triage(raw, categories)
        except TriageError as error:
            problem = error
        if problem is not None:
            bad_replies += 1
            messages.append(dict(role="user", content="There is a problem with that: " + str(problem)))
        elif checked is not None:
            if calls == max_tool_calls:
                break
            name, function, arguments = checked
            messages.append(dict(role="tool", name=name, content=json.dumps(function(**arguments))))
            calls += 1
    if answer is not None:
        answer.update({"attempts": bad_replies + 1, "tool_calls": calls, "fallback": False})
        return answer
    answer = {"category": None, "priority": None, "needs_human": True, "fallback": True}
    answer["summary"] = ticket_text.strip()[:120]
    answer["attempts"] = bad_replies
    answer["tool_calls"] = calls
    return answer


def evaluate(cases, client_for, *, categories, tools=None):
    results = []
    for case in cases:
        results.append([case, triage(case["ticket"], client_for(case), categories=categories, tools=tools)])
    correct = 0
    failures = []
    for case, result in results:
        if (result["category"], result["needs_human"]) == (case["expected"]["category"], case["expected"]["needs_human"]):
            correct += 1
            continue
        if result["fallback"]:
            text = "The client gave no valid answer, so it fell back."
        else:
            text = "Expected category=%(category)s and needs_human=%(needs_human)s" % case["expected"]
            text += ", but category=%(category)s and needs_human=%(needs_human)s came" % result
        failures.append({"id": case["id"], "reason": text})
    fallen = [result for _, result in results if result["fallback"]]
    return {
        "total": len(results),
        "correct": correct,
        "fallbacks": len(fallen),
        "schema_valid": len(results) - len(fallen),
        "accuracy": round(correct / len(results), 3) if results else 0.0,
        "failures": failures,
    }
