"""A regular expression for the fence, sets for the keys, every wrong key named at once, messages copied each time."""

import re

FENCE = re.compile(r"```(?:json)?[ \t]*\n(?P<inside>.*)```", re.DOTALL)
WANTED = {"category", "priority", "summary", "needs_human"}


def check_keys(data, wanted, error):
    odd = data.keys() ^ set(wanted)
    if odd:
        raise error("missing or unexpected: " + ", ".join(sorted(map(repr, odd))))


def unique(pairs):
    names = [name for name, _ in pairs]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise TriageError(f"repeated: {sorted(repeated)}")
    return dict(pairs)


def refuse_constant(name):
    raise TriageError(f"{name} is not JSON")


def load_object(raw):
    if type(raw) is not str:
        raise TriageError(f"a reply must be a str, not {type(raw).__name__}")
    text = raw.strip()
    fence = FENCE.fullmatch(text)
    if fence:
        text = fence.group("inside")
    try:
        data = json.loads(text, object_pairs_hook=unique, parse_constant=refuse_constant)
    except (json.JSONDecodeError, ValueError, RecursionError) as error:
        raise TriageError(f"not JSON ({type(error).__name__})") from error
    if type(data) is not dict:
        raise TriageError(f"a JSON object was expected, not a {type(data).__name__}")
    return data


def check_answer(data, categories):
    check_keys(data, WANTED, TriageError)
    if type(data["category"]) is not str or data["category"] not in set(categories):
        raise TriageError(f"category must be one of {sorted(categories)}")
    if type(data["priority"]) is not int or data["priority"] not in {1, 2, 3, 4}:
        raise TriageError("priority must be 1, 2, 3 or 4")
    if type(data["summary"]) is not str or not re.fullmatch(r"\S|\S.{0,118}\S", data["summary"].strip(), re.DOTALL):
        raise TriageError("summary must have 1 to 120 characters")
    if type(data["needs_human"]) is not bool:
        raise TriageError("needs_human must be a boolean")
    return {**data, "summary": data["summary"].strip()}


def parse_triage(raw, categories):
    return check_answer(load_object(raw), categories)


def run_tool_call(call, tools):
    if type(call) is not dict:
        raise ToolCallError("not an object")
    check_keys(call, {"tool", "arguments"}, ToolCallError)
    if type(call["tool"]) is not str or call["tool"] not in set(tools):
        raise ToolCallError(f"no such tool: {call['tool'] if type(call['tool']) is str else type(call['tool'])}")
    tool = tools[call["tool"]]
    if type(call["arguments"]) is not dict:
        raise ToolCallError("arguments must be an object")
    check_keys(call["arguments"], tool["parameters"], ToolCallError)
    wrong = {
        name for name, kind in tool["parameters"].items()
        if not isinstance(call["arguments"][name], kind) or type(call["arguments"][name]) is bool and kind is int
    }
    if wrong:
        raise ToolCallError(f"wrong type: {', '.join(sorted(wrong))}")
    return call["tool"], tool["function"](**call["arguments"])


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    refused, called = 0, 0
    while refused < max_attempts:
        raw = client([dict(message) for message in messages])
        messages = [*messages, {"role": "assistant", "content": raw}]
        try:
            data = load_object(raw)
            if "tool" in data:
                if called == max_tool_calls:
                    break
                name, result = run_tool_call(data, {} if tools is None else tools)
                called += 1
                messages = [*messages, {"role": "tool", "name": name, "content": json.dumps(result)}]
            else:
                answer = check_answer(data, categories)
                return dict(answer, attempts=refused + 1, tool_calls=called, fallback=False)
        except TriageError as error:
            refused += 1
            messages = [*messages, {"role": "user", "content": f"Error: {error}\nTry again."}]
    return dict(
        category=None, priority=None, summary=ticket_text.strip()[0:120], needs_human=True,
        attempts=refused, tool_calls=called, fallback=True,
    )


def evaluate(cases, client_for, *, categories, tools=None):
    results = [(case, triage(case["ticket"], client_for(case), categories=categories, tools=tools)) for case in cases]
    failures = []
    for case, result in results:
        expected = {name: case["expected"][name] for name in ("category", "needs_human")}
        got = {name: result[name] for name in ("category", "needs_human")}
        if result["fallback"]:
            failures.append({"id": case["id"], "reason": "fell back"})
        elif expected != got:
            failures.append({"id": case["id"], "reason": f"expected {expected}, got {got}"})
    fallbacks = sum(result["fallback"] for _, result in results)
    total, correct = len(results), len(results) - len(failures)
    return {
        "failures": failures, "accuracy": round(correct / total, 3) if total else 0.0, "total": total,
        "correct": correct, "fallbacks": fallbacks, "schema_valid": total - fallbacks,
    }
