"""Generators yield every problem of a reply; the message joins them all. The client's turns are a generator too."""


def _twice(pairs):
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise TriageError(f"the key {key!a} stands there twice")
        seen.add(key)
    return {key: value for key, value in pairs}


def _not_json(text):
    raise TriageError(f"{text} does not exist in JSON")


def _object(raw):
    if not isinstance(raw, str):
        raise TriageError("no text")
    lines = raw.strip().split("\n")
    if len(lines) >= 3 and lines[0].strip() in ("```", "```json") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    try:
        found = json.JSONDecoder(object_pairs_hook=_twice, parse_constant=_not_json).decode("\n".join(lines))
    except RecursionError as error:
        raise TriageError("nested too deep") from error
    except ValueError as error:
        raise TriageError(f"JSON: {error}") from error
    if isinstance(found, dict):
        return found
    raise TriageError("JSON, but no object")


def _problems(found, categories):
    yield from (f"{field} is missing" for field in FIELDS if field not in found)
    yield from (f"{field!a} is unknown" for field in found if field not in FIELDS)
    if "category" in found and not (isinstance(found["category"], str) and any(found["category"] == known for known in categories)):
        yield "category is none of those that exist"
    if "priority" in found and (isinstance(found["priority"], (bool, float)) or found["priority"] not in [1, 2, 3, 4]):
        yield "priority is not an integer from 1 to 4"
    if "summary" in found and not (isinstance(found["summary"], str) and 0 < len(found["summary"].strip()) < 121):
        yield "summary is empty, too long or no text"
    if "needs_human" in found and not isinstance(found["needs_human"], bool):
        yield "needs_human is neither true nor false"


def parse_triage(raw, categories):
    found = _object(raw)
    problems = list(_problems(found, categories))
    if problems:
        raise TriageError("; ".join(problems))
    return {field: found[field].strip() if field == "summary" else found[field] for field in FIELDS}


def _call_problems(call, tools):
    if not isinstance(call, dict):
        yield "a call is an object"
        return
    yield from (f"{key} is missing" for key in ("tool", "arguments") if key not in call)
    yield from (f"{key!a} is unknown" for key in call if key not in ("tool", "arguments"))
    if "tool" in call and "arguments" in call:
        if not isinstance(call["tool"], str) or call["tool"] not in tools:
            yield f"tool: {call['tool']:.40s} does not exist" if isinstance(call["tool"], str) else "tool: a name is a text"
        elif not isinstance(call["arguments"], dict):
            yield "arguments: no object"
        else:
            yield from _argument_problems(call["arguments"], tools[call["tool"]]["parameters"])


def _argument_problems(arguments, parameters):
    yield from (f"{name!a} is unknown" for name in arguments if name not in parameters)
    for name, kind in parameters.items():
        if name not in arguments:
            yield f"{name} is missing"
        elif not isinstance(arguments[name], kind) or (kind == int and isinstance(arguments[name], bool)):
            yield f"{name} is not of the type {kind.__name__}"


def run_tool_call(call, tools):
    for problem in _call_problems(call, tools):
        raise ToolCallError(problem)
    return call["tool"], tools[call["tool"]]["function"](**call["arguments"])


def _turns(client, messages):
    """Yield each reply after it is written down."""
    while True:
        raw = client(messages)
        messages.append({"role": "assistant", "content": raw})
        yield raw


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    errors, results = [], []
    for raw in _turns(client, messages):
        try:
            found = _object(raw)
            if "tool" not in found:
                return {**parse_triage(raw, categories), "attempts": len(errors) + 1, "tool_calls": len(results), "fallback": False}
            if len(results) == max_tool_calls:
                break
            results.append(run_tool_call(found, tools or {}))
            messages.append({"role": "tool", "name": results[-1][0], "content": json.dumps(results[-1][1])})
        except TriageError as error:
            errors.append(error)
            messages.append({"role": "user", "content": "\n".join(map(str, errors))})
            if len(errors) == max_attempts:
                break
    blank = dict.fromkeys(("category", "priority"))
    return {**blank, "summary": ticket_text.strip()[:120], "needs_human": True,
            "attempts": len(errors), "tool_calls": len(results), "fallback": True}


def _outcomes(cases, client_for, categories, tools):
    for case in cases:
        result = triage(case["ticket"], client_for(case), categories=categories, tools=tools)
        wrong = [field for field in ("category", "needs_human") if result[field] != case["expected"][field]]
        yield case, result, wrong


def evaluate(cases, client_for, *, categories, tools=None):
    counted = {"total": 0, "correct": 0, "fallbacks": 0, "schema_valid": 0, "accuracy": 0.0, "failures": []}
    for case, result, wrong in _outcomes(cases, client_for, categories, tools):
        counted["total"] += 1
        counted["fallbacks" if result["fallback"] else "schema_valid"] += 1
        if result["fallback"]:
            counted["failures"].append({"id": case["id"], "reason": "no usable answer came, so it fell back: a person has to look"})
        elif wrong:
            told = (f"{field} is {result[field]} and not {case['expected'][field]}" for field in wrong)
            counted["failures"].append({"id": case["id"], "reason": ", ".join(told)})
        else:
            counted["correct"] += 1
    if counted["total"]:
        counted["accuracy"] = round(counted["correct"] / counted["total"], 3)
    return counted
