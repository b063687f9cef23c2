"""The turn is a generator that yields its questions and gets the replies sent; a small driver asks the client."""

MARK = "tool_attempted_this_turn"


def create_initial_state():
    return dict(
        conversation_id=uuid.uuid4().hex, next_turn_id=1, history=list(), last_result=None, last_sources=list(), last_source_turn_id=None,
        last_source_result_id=None, tool_attempted_this_turn=False, diagnostic_mode=False, turn_log=list(),
    )


def finalize_turn(state, message, result):
    new, turn = dict(state), state["next_turn_id"]
    new["next_turn_id"] = turn + 1
    new["turn_log"] = state["turn_log"] + [{"tool": result["tool"], "status": result["status"], "turn_id": turn}]
    history = state["history"] + [{"content": message, "role": "user"}, {"content": result["reply"], "role": "assistant"}]
    new["history"] = history[max(0, len(history) - 2 * HISTORY_PAIRS) :]
    if result["status"] == "answered":
        new["last_result"], new["last_sources"], new["last_source_turn_id"] = result, result["cited"], turn
        new["last_source_result_id"] = "{conversation_id}:{next_turn_id}".format(**state)
    return new


def faults(arguments, parameters):
    """Yield the name of each argument that does not fit."""
    if type(arguments) is not dict:
        yield "arguments"
        return
    yield from (name for name in parameters if name not in arguments)
    yield from (name for name in arguments if name not in parameters)
    yield from (name for name, kind in parameters.items() if name in arguments and type(arguments[name]) is not kind)


def attempt_tool(state, name, arguments, registry):
    if state[MARK]:
        raise TurnError("second attempt")
    state = {**state, MARK: True}
    if name not in list(registry):  # == compares what no dict can look up
        return state, "unknown_tool", f"unknown: {show(name)}"
    for fault in faults(arguments, registry[name]["parameters"]):
        return state, "invalid_arguments", f"{name} does not take {fault} like that"
    try:
        value = registry[name]["function"](state, **arguments)
    except Exception as error:
        return state, "tool_error", f"{name}: {error!r}"
    else:
        return state, "ok", value


def objects(raw):
    """Return the object that a reply consists of."""
    twice = []

    def keep(pairs):
        names = [name for name, _ in pairs]
        twice.extend(name for name in names if names.count(name) > 1)
        return dict(pairs)

    def forbid(name):
        raise ValueError(name)

    if not isinstance(raw, str):
        raise ReplyError("not a str")
    try:
        value = json.loads(raw.strip(), object_pairs_hook=keep, parse_constant=forbid)
    except (ValueError, RecursionError) as error:
        if twice:
            raise ReplyError(f"{twice[0]} twice") from error
        raise ReplyError("not JSON") from error
    if twice:
        raise ReplyError(f"{twice[0]} twice")
    if not isinstance(value, dict):
        raise ReplyError("not an object")
    return value


def complaints(value, names, texts):
    yield from (f"{name} is missing" for name in names if name not in value)
    yield from (f"{show(name)} is extra" for name in value if name not in names)
    yield from (f"{name} says nothing" for name in texts if not (isinstance(value.get(name), str) and value[name].strip()))


def parse_decision(raw):
    value = objects(raw)
    forms = [("tool", ("tool", "arguments"), ()), ("clarify", ("reply",), ("reply",)), ("refuse", ("reply",), ("reply",))]
    for action, names, texts in forms:
        if value.get("action") == action:
            for complaint in complaints(value, ("action", *names), texts):
                raise ReplyError(complaint)
            return value
    raise ReplyError("action does not exist")


def parse_answer(raw, passage_ids):
    value = objects(raw)
    for complaint in complaints(value, ("answer", "cited"), ("answer",)):
        raise ReplyError(complaint)
    cited = value["cited"]
    if not isinstance(cited, list) or not cited or any(cited.count(item) > 1 or item not in passage_ids for item in cited):
        raise ReplyError("cited does not fit what was found")
    return value


def turn(state, message, registry):
    """Yield each question; return (state, status, reply, tool, cited)."""
    raw = yield selector_messages(state, message, registry)
    try:
        decision = parse_decision(raw)
    except ReplyError:
        return state, "invalid_reply", "The decision makes no sense.", None, []
    if decision["action"] in ("clarify", "refuse"):
        return state, {"clarify": "clarification_needed", "refuse": "refused"}[decision["action"]], decision["reply"], None, []
    tool = decision["tool"]
    if (tool, state["last_sources"]) == ("show_last_sources", []):
        return state, "clarification_needed", "No sources yet.", None, []
    state, status, value = attempt_tool(state, tool, decision["arguments"], registry)
    if status != "ok":
        return state, status, value, {"tool_error": tool}.get(status), []
    if tool != "search_docs":
        return state, "shown", value, tool, []
    if not value:
        return state, "no_source", "Nothing found.", tool, []
    raw = yield writer_messages(message, value)
    try:
        answer = parse_answer(raw, [passage["id"] for passage in value])
    except ReplyError:
        return state, "invalid_reply", "The answer makes no sense.", tool, []
    return state, "answered", answer["answer"], tool, answer["cited"]


def run_turn(state, message, client, registry):
    steps = turn(begin_turn(state, message), message, registry)
    question = next(steps)
    while True:
        reply = client(question)
        try:
            question = steps.send(reply)
        except StopIteration as end:
            state, *parts = end.value
            result = dict(zip(("status", "reply", "tool", "cited"), parts))
            return finalize_turn(state, message, result), result
