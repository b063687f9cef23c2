"""The conversation is a coroutine that gets replies by send() and yields what to do; evaluate zips two generators."""

from itertools import tee


def without_fence(raw):
    text = raw.strip()
    head, _, rest = text.partition("\n")
    body, closing = rest[:-3], rest[-3:]
    return body if (head.rstrip(), closing) in {("```", "```"), ("```json", "```")} else text


def hook(pairs):
    names = sorted(name for name, _ in pairs)
    for left, right in zip(names, names[1:]):
        if left == right:
            raise TriageError("Twice: " + left)
    return dict(pairs)


def strange(name):
    raise TriageError("Strange number: " + name)


def read_object(raw):
    if not isinstance(raw, str):
        raise TriageError("Not a text")
    try:
        got = json.loads(without_fence(raw), object_pairs_hook=hook, parse_constant=strange)
    except (RecursionError, ValueError) as error:
        raise TriageError("Not JSON") from error
    if not isinstance(got, dict):
        raise TriageError("Not an object")
    return got


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def parse_triage(raw, categories):
    got = read_object(raw)
    missing = [name for name in ("summary", "category", "needs_human", "priority") if name not in got]
    if missing:
        raise TriageError("Missing: " + " ".join(missing))
    extra = [name for name in got if name not in ("summary", "category", "needs_human", "priority")]
    if extra:
        raise TriageError("Extra: " + " ".join(extra))
    if got["needs_human"] is None or not isinstance(got["needs_human"], bool):
        raise TriageError("Wrong: needs_human")
    if not (is_whole(got["priority"]) and got["priority"] > 0 and got["priority"] <= 4):
        raise TriageError("Wrong: priority")
    if not (isinstance(got["category"], str) and [got["category"]] == [name for name in categories if name == got["category"]][:1]):
        raise TriageError("Wrong: category")
    if not isinstance(got["summary"], str) or got["summary"].isspace() or not 0 < len(got["summary"].strip()) <= 120:
        raise TriageError("Wrong: summary")
    return {"summary": got["summary"].strip(), **{name: got[name] for name in ("category", "needs_human", "priority")}}


def run_tool_call(call, tools):
    if not isinstance(call, dict):
        raise ToolCallError("Not an object")
    if len(call) != 2 or "tool" not in call or "arguments" not in call:
        odd = {"tool", "arguments"}.symmetric_difference(call)
        raise ToolCallError("Wrong keys: " + " ".join(odd))
    name = call["tool"]
    if not isinstance(name, str):
        raise ToolCallError("Wrong tool")
    if name not in list(tools):
        raise ToolCallError("Wrong tool: " + name)
    function, parameters = tools[name]["function"], tools[name]["parameters"]
    if not isinstance(call["arguments"], dict):
        raise ToolCallError("Wrong arguments")
    odd = set(parameters).symmetric_difference(call["arguments"])
    odd.update(key for key in parameters if key not in odd and not fits(call["arguments"][key], parameters[key]))
    if odd:
        raise ToolCallError("Wrong: " + " ".join(sorted(odd)))
    return name, function(**call["arguments"])


def fits(value, kind):
    return is_whole(value) if kind is int else isinstance(value, kind)


def course(categories, tools, max_attempts, max_tool_calls):
    """Get a reply by send; yield ("say", message) or ("end", answer or None, refused, ran)."""
    refused = ran = 0
    raw = yield
    while True:
        try:
            got = read_object(raw)
            if "tool" not in got:
                yield "end", parse_triage(raw, categories), refused, ran
            if ran == max_tool_calls:
                yield "end", None, refused, ran
            name, result = run_tool_call(got, tools)
            message = {"role": "tool", "name": name, "content": json.dumps(result)}
            ran += 1
        except TriageError as error:
            refused += 1
            message = {"role": "user", "content": "\N{CROSS MARK} " + str(error)}
            if refused == max_attempts:
                yield "end", None, refused, ran
        raw = yield "say", message


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    steps = course(categories, tools or {}, max_attempts, max_tool_calls)
    next(steps)
    while True:
        raw = client(messages[:])
        messages.append({"role": "assistant", "content": raw})
        what, *rest = steps.send(raw)
        if what == "say":
            messages.extend(rest)
            continue
        answer, refused, ran = rest
        if answer is not None:
            return {**answer, "attempts": refused + 1, "tool_calls": ran, "fallback": False}
        cut = slice(0, 120)
        return {"category": None, "priority": None, "summary": ticket_text.strip()[cut], "needs_human": True,
                "attempts": refused, "tool_calls": ran, "fallback": True}


def differences(expected, result):
    for name in ("category", "needs_human"):
        if expected[name] != result[name]:
            yield f"{name} ({expected[name]} expected, {result[name]} came)"


def evaluate(cases, client_for, *, categories, tools=None):
    first, second = tee(cases)
    results = (triage(case["ticket"], client_for(case), categories=categories, tools=tools) for case in first)
    total, wrong, back = 0, [], 0
    for result, case in zip(results, second):
        total += 1
        back += result["fallback"]
        text = ", ".join(differences(case["expected"], result))
        if result["fallback"] or text:
            wrong.append({"reason": "fallback: " * result["fallback"] + text, "id": case["id"]})
    accuracy = 0.0 if not total else round((total - len(wrong)) / total, 3)
    numbers = zip(("total", "correct", "fallbacks", "schema_valid", "accuracy"), (total, total - len(wrong), back, total - back, accuracy))
    return {**dict(numbers), "failures": wrong}
