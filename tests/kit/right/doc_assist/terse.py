"""As short as it gets: expressions instead of statements, and one table of the ends of a turn."""

NONE = ("last_result", "last_source_turn_id", "last_source_result_id")
LISTS = ("history", "last_sources", "turn_log")


def create_initial_state():
    rest = {"conversation_id": uuid.uuid4().hex, "next_turn_id": 1, "tool_attempted_this_turn": False, "diagnostic_mode": False}
    return {**dict.fromkeys(NONE), **{name: [] for name in LISTS}, **rest}


def finalize_turn(state, message, result):
    number, answered = state["next_turn_id"], result["status"] == "answered"
    said = [{"role": role, "content": text} for role, text in zip(("user", "assistant"), (message, result["reply"]))]
    sources = (result, result["cited"], number, f"{state['conversation_id']}:{number}")
    return {
        **state,
        "next_turn_id": number + 1,
        "history": (state["history"] + said)[-2 * HISTORY_PAIRS :],
        "turn_log": state["turn_log"] + [{"turn_id": number, "status": result["status"], "tool": result["tool"]}],
        **(dict(zip((NONE[0], LISTS[1], *NONE[1:]), sources)) if answered else {}),
    }


def attempt_tool(state, name, arguments, registry):
    if state["tool_attempted_this_turn"]:
        raise TurnError("once is enough")
    state = {**state, "tool_attempted_this_turn": True}
    if not isinstance(name, str) or name not in registry:
        return state, "unknown_tool", f"no tool {show(name)}"
    wanted = registry[name]["parameters"]
    given = {key: type(value) for key, value in arguments.items()} if isinstance(arguments, dict) else {"arguments": None}
    if given != wanted:
        return state, "invalid_arguments", ", ".join(show(key) for key, _ in given.items() ^ wanted.items())
    try:
        return state, "ok", registry[name]["function"](state, **arguments)
    except Exception:
        return state, "tool_error", f"{name} broke"


def refuse(what):
    raise ReplyError(what)


def once(pairs):
    return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse(f"twice: {[name for name, _ in pairs]}")


def decode(raw, names, texts):
    try:
        record = json.loads(str.strip(raw), object_pairs_hook=once, parse_constant=refuse)
    except (TypeError, ValueError, RecursionError) as error:
        raise ReplyError("expected one JSON object") from error
    names = names(record) if isinstance(record, dict) else refuse("expected an object")
    wrong = set(names) ^ set(record) or {name for name in texts if name in record and not str.strip(str(record[name] if type(record[name]) is str else ""))}
    return refuse(f"wrong: {', '.join(map(show, wrong))}") if wrong else record


def parse_decision(raw):
    return decode(raw, lambda record: DECISIONS.get(str(record.get("action"))) or refuse("action"), ["reply"])


def parse_answer(raw, passage_ids):
    record = decode(raw, lambda _: ("answer", "cited"), ["answer"])
    cited = record["cited"] if isinstance(record["cited"], list) and record["cited"] else refuse("cited: empty, or not a list")
    fits = all(item in passage_ids and cited.index(item) == place for place, item in enumerate(cited))
    return record if fits else refuse("cited: not found in this turn, or twice")


def run_turn(state, message, client, registry):
    state = begin_turn(state, message)

    def end(*parts):
        result = dict(zip(("status", "reply", "tool", "cited"), (*parts, *(None, [])[len(parts) - 2 :])))
        return finalize_turn(state, message, result), result

    def parsed(parse, raw, *more):
        try:
            return parse(raw, *more)
        except ReplyError:
            return None

    decision = parsed(parse_decision, client(selector_messages(state, message, registry)))
    if decision is None or "reply" in decision:
        status = {"clarify": "clarification_needed", "refuse": "refused"}
        return end(status[decision["action"]], decision["reply"]) if decision else end("invalid_reply", "Come again?")
    tool = decision["tool"]
    if tool == "show_last_sources" and not state["last_sources"]:
        return end("clarification_needed", "None so far.")
    state, status, value = attempt_tool(state, tool, decision["arguments"], registry)
    if status != "ok" or tool != "search_docs" or not value:
        ends = {"ok": ("no_source", "Not in the documents.", tool) if tool == "search_docs" else ("shown", value, tool)}
        return end(*ends.get(status, (status, value, tool if status == "tool_error" else None)))
    answer = parsed(parse_answer, client(writer_messages(message, value)), [passage["id"] for passage in value])
    return end("answered", answer["answer"], tool, answer["cited"]) if answer else end("invalid_reply", "Come again?", tool)
