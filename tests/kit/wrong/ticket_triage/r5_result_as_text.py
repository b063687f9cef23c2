"""R5: the result is returned as JSON text."""


def run_tool_call(call, tools):
    if type(call) is not dict:
        raise ToolCallError(f"tool call: expected an object, got {show(call)}")
    _exactly(call, ("tool", "arguments"), ToolCallError)
    name, arguments = call["tool"], call["arguments"]
    if type(name) is not str or name not in tools:
        raise ToolCallError(f"tool: expected one of {', '.join(tools)}, got {show(name)}")
    parameters = tools[name]["parameters"]
    if type(arguments) is not dict:
        raise ToolCallError(f"arguments: expected an object, got {show(arguments)}")
    _exactly(arguments, parameters, ToolCallError)
    for parameter, kind in parameters.items():
        value = arguments[parameter]
        if not isinstance(value, kind) or (kind is int and type(value) is bool):
            raise ToolCallError(f"{parameter}: expected {kind.__name__}, got {show(value)}")
    return name, json.dumps(tools[name]["function"](**arguments))


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    refused = tool_calls = 0
    while refused < max_attempts:
        raw = client(messages)
        messages.append({"role": "assistant", "content": raw})
        try:
            record = _decode(raw)
            if "tool" not in record:
                answer = parse_triage(raw, categories)
                return {**answer, "attempts": refused + 1, "tool_calls": tool_calls, "fallback": False}
            if tool_calls == max_tool_calls:
                break
            name, result = run_tool_call(record, tools or {})
        except TriageError as error:
            refused += 1
            messages.append({"role": "user", "content": f"Your reply was refused. {error}. Send a corrected one."})
        else:
            tool_calls += 1
            messages.append({"role": "tool", "name": name, "content": result})
    return {
        "category": None,
        "priority": None,
        "summary": ticket_text.strip()[:SUMMARY_LIMIT],
        "needs_human": True,
        "attempts": refused,
        "tool_calls": tool_calls,
        "fallback": True,
    }
