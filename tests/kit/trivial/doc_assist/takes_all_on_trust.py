"""Every reply is believed, every tool is run, and every turn is answered."""


def create_initial_state():
    return {"conversation_id": "1", "history": []}


def finalize_turn(state, message, result):
    return {**state, "last_result": result}


def attempt_tool(state, name, arguments, registry):
    return state, "ok", registry[name]["function"](state, **arguments)


def parse_decision(raw):
    return json.loads(raw)


def parse_answer(raw, passage_ids):
    return json.loads(raw)


def run_turn(state, message, client, registry):
    decision = json.loads(client(selector_messages(state, message, registry)))
    return state, {"status": "answered", "reply": decision, "tool": "search_docs", "cited": []}
