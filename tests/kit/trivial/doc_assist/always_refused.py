"""Every turn is refused, every reply and every tool too."""


def create_initial_state():
    return {"history": [], "turn_log": [], "last_sources": [], "next_turn_id": 1, "tool_attempted_this_turn": False}


def finalize_turn(state, message, result):
    return state


def attempt_tool(state, name, arguments, registry):
    return state, "unknown_tool", f"There is no tool {name}."


def parse_decision(raw):
    raise ReplyError(f"action: {raw}")


def parse_answer(raw, passage_ids):
    raise ReplyError(f"cited: {raw}")


def run_turn(state, message, client, registry):
    return state, {"status": "refused", "reply": "No.", "tool": None, "cited": []}
