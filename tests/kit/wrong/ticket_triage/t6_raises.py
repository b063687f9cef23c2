"""T6: after the last attempt the TriageError leaves, and no fallback comes."""


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
            if refused == max_attempts:
                raise
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


def evaluate(cases, client_for, *, categories, tools=None):
    total = fallbacks = 0
    failures = []
    for case in cases:
        total += 1
        try:
            result = triage(case["ticket"], client_for(case), categories=categories, tools=tools)
        except TriageError:
            result = {"category": None, "needs_human": True, "fallback": True}
        fallbacks += result["fallback"]
        differences = [
            f"{field}: expected {show(case['expected'][field])}, got {show(result[field])}"
            for field in ("category", "needs_human")
            if result[field] != case["expected"][field]
        ]
        if result["fallback"]:
            failures.append({"id": case["id"], "reason": "it fell back to a human"})
        elif differences:
            failures.append({"id": case["id"], "reason": "; ".join(differences)})
    correct = total - len(failures)
    return {
        "total": total,
        "correct": correct,
        "fallbacks": fallbacks,
        "schema_valid": total - fallbacks,
        "accuracy": round(correct / total, 3) if total else 0.0,
        "failures": failures,
    }
