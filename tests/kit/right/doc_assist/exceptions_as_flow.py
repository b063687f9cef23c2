"""A turn ends where an exception is raised: each end is raised, and one place catches it."""


class End(Exception):
    """How a turn ends."""

    def __init__(self, status, reply, tool=None, cited=()):
        super().__init__(status)
        self.result = {"status": status, "reply": reply, "tool": tool, "cited": list(cited)}


class Fault(Exception):
    """What is wrong with an attempt; args are its status and its text."""


def create_initial_state():
    state = dict.fromkeys(("last_result", "last_source_turn_id", "last_source_result_id"))
    state.update((name, []) for name in ("history", "last_sources", "turn_log"))
    state.update(conversation_id=uuid.uuid4().hex, next_turn_id=1, tool_attempted_this_turn=False, diagnostic_mode=False)
    return state


def finalize_turn(state, message, result):
    state = copy.deepcopy(state)
    number = state["next_turn_id"]
    for role, text in (("user", message), ("assistant", result["reply"])):
        state["history"].append({"role": role, "content": text})
    while len(state["history"]) > 2 * HISTORY_PAIRS:
        state["history"].pop(0)
    state["turn_log"].append({"turn_id": number, "status": result["status"], "tool": result["tool"]})
    state["next_turn_id"] += 1
    if result["status"] == "answered":
        state["last_result"] = copy.deepcopy(result)
        state["last_sources"] = copy.deepcopy(result["cited"])
        state["last_source_turn_id"] = number
        state["last_source_result_id"] = ":".join((state["conversation_id"], str(number)))
    return state


def checked_call(name, arguments, registry):
    try:
        tool = registry[name]
    except (KeyError, TypeError):
        raise Fault("unknown_tool", f"{show(name)} is not a tool") from None
    if not isinstance(arguments, dict):
        raise Fault("invalid_arguments", f"{name}: expected named arguments")
    wrong = sorted(arguments.keys() ^ tool["parameters"].keys())
    wrong += sorted(key for key, kind in tool["parameters"].items() if key in arguments and type(arguments[key]) != kind)
    if wrong:
        raise Fault("invalid_arguments", f"{name}: look at {', '.join(wrong)}")
    return tool["function"]


def attempt_tool(state, name, arguments, registry):
    if state["tool_attempted_this_turn"]:
        raise TurnError("this turn has had its attempt")
    state = dict(state, tool_attempted_this_turn=True)
    try:
        function = checked_call(name, arguments, registry)
    except Fault as fault:
        return (state, *fault.args)
    try:
        return state, "ok", function(state, **arguments)
    except Exception as error:
        return state, "tool_error", f"{name}: {type(error).__name__}: {error}"


def pairs_of(pairs):
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ReplyError(f"{name} is there twice")
    return dict(pairs)


def constant(name):
    raise ReplyError(f"{name} is not a JSON number")


def decoded(raw):
    try:
        value = json.loads(raw.strip(), object_pairs_hook=pairs_of, parse_constant=constant)
    except ReplyError:
        raise
    except Exception as error:
        raise ReplyError(f"not one JSON object ({type(error).__name__})") from error
    if not isinstance(raw, str) or not isinstance(value, dict):
        raise ReplyError("not one JSON object")
    return value


def has(record, *names):
    for name in record.keys() ^ set(names):
        raise ReplyError(f"{name} is {'extra' if name in record else 'missing'}")


def speaks(record, name):
    if not isinstance(record[name], str) or not record[name].strip():
        raise ReplyError(f"{name} is not a text")


def parse_decision(raw):
    record = decoded(raw)
    if record.get("action") == "tool":
        has(record, "action", "tool", "arguments")
    elif record.get("action") in ("clarify", "refuse"):
        has(record, "action", "reply")
        speaks(record, "reply")
    else:
        raise ReplyError("action is none of tool, clarify and refuse")
    return record


def parse_answer(raw, passage_ids):
    record = decoded(raw)
    has(record, "answer", "cited")
    speaks(record, "answer")
    left = list(passage_ids)
    if not isinstance(record["cited"], list) or not record["cited"]:
        raise ReplyError("cited is not a list with something in it")
    for item in record["cited"]:
        try:
            left.remove(item)
        except ValueError:
            raise ReplyError(f"cited has {show(item)} in it, which was not found, or is there twice") from None
    return record


def run_turn(state, message, client, registry):
    holder = [begin_turn(state, message)]
    try:
        take_turn(holder, message, client, registry)
    except End as end:
        return finalize_turn(holder[0], message, end.result), end.result


def take_turn(holder, message, client, registry):
    raw = client(selector_messages(holder[0], message, registry))
    try:
        decision = parse_decision(raw)
    except ReplyError:
        raise End("invalid_reply", "I did not understand the model.") from None
    if decision["action"] == "clarify":
        raise End("clarification_needed", decision["reply"])
    if decision["action"] == "refuse":
        raise End("refused", decision["reply"])
    tool = decision["tool"]
    if tool == "show_last_sources" and holder[0]["last_sources"] == []:
        raise End("clarification_needed", "Which sources? Nothing has been answered yet.")
    holder[0], status, value = attempt_tool(holder[0], tool, decision["arguments"], registry)
    if status == "tool_error":
        raise End(status, value, tool)
    if status != "ok":
        raise End(status, value)
    if tool != "search_docs":
        raise End("shown", value, tool)
    if value == []:
        raise End("no_source", "Nothing is written about it.", tool)
    raw = client(writer_messages(message, value))
    try:
        answer = parse_answer(raw, [passage["id"] for passage in value])
    except ReplyError:
        raise End("invalid_reply", "The answer was not usable.", tool) from None
    raise End("answered", answer["answer"], tool, answer["cited"])
