"""T3: one call more than max_tool_calls runs."""


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
            if tool_calls > max_tool_calls:
                break
            name, result = run_tool_call(record, tools or {})
        except TriageError as error:
            refused += 1
            messages.append({"role": "user", "content": f"Your reply was refused. {error}. Send a corrected one."})
        else:
            tool_calls += 1
            messages.append({"role": "tool", "name": name, "content": json.dumps(result)})
    return {
        "category": None,
        "priority": None,
        "summary": ticket_text.strip()[:SUMMARY_LIMIT],
        "needs_human": True,
        "attempts": refused,
        "tool_calls": tool_calls,
        "fallback": True,
    }
