"""Rules are data: tables of (what, check) for replies, a table of steps for a turn; a decorator keeps the given state whole."""

import functools


def on_a_copy(function):
    """Make a function of a state work on a copy of it."""

    @functools.wraps(function)
    def safe(state, *rest):
        return function(copy.deepcopy(state), *rest)

    return safe


STATE = {
    "conversation_id": lambda: uuid.uuid4().hex, "next_turn_id": lambda: 1, "history": list, "last_result": lambda: None,
    "last_sources": list, "last_source_turn_id": lambda: None, "last_source_result_id": lambda: None,
    "tool_attempted_this_turn": bool, "diagnostic_mode": bool, "turn_log": list,
}


def create_initial_state():
    return {name: make() for name, make in STATE.items()}


@on_a_copy
def finalize_turn(state, message, result):
    turn_id = state["next_turn_id"]
    state["history"].extend(({"role": "user", "content": message}, {"role": "assistant", "content": result["reply"]}))
    state["history"] = state["history"][-HISTORY_PAIRS * 2 :]
    state["turn_log"].append({"turn_id": turn_id, **{name: result[name] for name in ("status", "tool")}})
    sources = {
        "last_result": result, "last_sources": [*result["cited"]], "last_source_turn_id": turn_id,
        "last_source_result_id": state["conversation_id"] + ":" + str(turn_id),
    }
    state.update(sources if result["status"] == "answered" else {}, next_turn_id=turn_id + 1)
    return state


def argument_checks(name, arguments, parameters):
    """Yield (whether it holds, what is wrong) in order; what comes later may rely on what came before."""
    yield type(arguments) is dict, f"{name}: arguments need names"
    for parameter in parameters:
        yield parameter in arguments, f"{name}: {parameter} is missing"
    for argument in arguments:
        yield argument in parameters, f"{name}: {argument} is too much"
    for parameter, kind in parameters.items():
        yield type(arguments[parameter]) is kind, f"{name}: {parameter} is of another type"


@on_a_copy
def attempt_tool(state, name, arguments, registry):
    if state["tool_attempted_this_turn"]:
        raise TurnError("one attempt in a turn")
    state["tool_attempted_this_turn"] = True
    if not (isinstance(name, str) and registry.get(name)):
        return state, "unknown_tool", "not a tool: " + (name if isinstance(name, str) and name else show(name))
    for holds, wrong in argument_checks(name, arguments, registry[name]["parameters"]):
        if not holds:
            return state, "invalid_arguments", wrong
    call = functools.partial(registry[name]["function"], state, **arguments)
    try:
        return state, "ok", call()
    except Exception as error:
        return state, "tool_error", "".join((name, " raised ", type(error).__name__))


def only_once(pairs):
    seen = set()
    for name, _ in pairs:
        if name in seen:
            raise ReplyError(f"{ascii(name)} occurs twice")
        seen.add(name)
    return dict(pairs)


def not_json(name):
    raise ReplyError(f"{name}?")


def reply_parser(forms):
    """Return a function of raw and more that checks a reply. forms(record, *more): [(field, its check or None)]."""

    def parse(raw, *more):
        if not isinstance(raw, str):
            raise ReplyError("a text is expected")
        try:
            record = json.loads(raw.strip(), parse_constant=not_json, object_pairs_hook=only_once)
        except (json.JSONDecodeError, ValueError, RecursionError) as error:
            raise ReplyError("exactly one JSON object is expected") from error
        if not isinstance(record, dict):
            raise ReplyError("an object is expected")
        checks = dict(forms(record, *more))
        for field in [*checks, *record]:
            if field not in record or field not in checks:
                raise ReplyError(f"{show(field)}: {'unexpected' if field in record else 'missing'}")
            if checks[field] and not checks[field](record[field]):
                raise ReplyError(f"{field}: {show(record[field])} is not allowed")
        return record

    return parse


def says(value):
    return isinstance(value, str) and bool(value.strip())


def decision_form(record):
    spoken = [("action", None), ("reply", says)]
    forms = {"tool": [("action", None), ("tool", None), ("arguments", None)], "clarify": spoken, "refuse": spoken}
    action = record.get("action")
    return forms[action] if isinstance(action, str) and action in forms else [("action", lambda value: False)]


def answer_form(record, passage_ids):
    def cited(value):
        if not isinstance(value, list) or not value:
            return False
        return all(any(item == known for known in passage_ids) for item in value) and len({*value}) == len(value)

    return [("answer", says), ("cited", cited)]


def parse_decision(raw):
    return reply_parser(decision_form)(raw)


def parse_answer(raw, passage_ids):
    return reply_parser(answer_form)(raw, passage_ids)


def run_turn(state, message, client, registry):
    turn = {"state": begin_turn(state, message), "message": message, "client": client, "registry": registry}
    result = next(filter(None, (step(turn) for step in STEPS)))
    return finalize_turn(turn["state"], message, result), result


def ended(status, reply, tool=None, cited=()):
    return {"status": status, "reply": reply, "tool": tool, "cited": list(cited)}


def decide(turn):
    raw = turn["client"](selector_messages(turn["state"], turn["message"], turn["registry"]))
    try:
        turn.update(parse_decision(raw))
    except ReplyError:
        return ended("invalid_reply", CANNOT_USE_REPLY)


def speak(turn):
    spoken = {"clarify": "clarification_needed", "refuse": "refused"}
    return ended(spoken[turn["action"]], turn["reply"]) if turn["action"] in spoken else None


def need_sources(turn):
    early = turn["tool"] == "show_last_sources" and not turn["state"]["last_sources"]
    return ended("clarification_needed", NO_SOURCES_YET) if early else None


def attempt(turn):
    turn["state"], status, turn["value"] = attempt_tool(turn["state"], turn["tool"], turn["arguments"], turn["registry"])
    if status != "ok":
        return ended(status, turn["value"], turn["tool"] if status == "tool_error" else None)


def show_value(turn):
    if turn["tool"] != "search_docs":
        return ended("shown", turn["value"], turn["tool"])
    return ended("no_source", NOTHING_FOUND, "search_docs") if turn["value"] == [] else None


def write(turn):
    raw = turn["client"](writer_messages(turn["message"], turn["value"]))
    try:
        answer = parse_answer(raw, [passage["id"] for passage in turn["value"]])
    except ReplyError:
        return ended("invalid_reply", CANNOT_USE_REPLY, "search_docs")
    return ended("answered", answer["answer"], "search_docs", answer["cited"])


STEPS = (decide, speak, need_sources, attempt, show_value, write)
