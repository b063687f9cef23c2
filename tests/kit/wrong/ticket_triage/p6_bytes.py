"""P6: bytes are counted, not characters."""


def parse_triage(raw, categories):
    record = _decode(raw)
    _exactly(record, FIELDS, TriageError)
    category, priority = record["category"], record["priority"]
    summary, needs_human = record["summary"], record["needs_human"]
    if type(category) is not str or category not in categories:
        raise TriageError(f"category: expected one of {', '.join(sorted(categories))}, got {show(category)}")
    if type(priority) is not int or priority not in PRIORITIES:  # isinstance lets True through: bool is a kind of int
        raise TriageError(f"priority: expected an integer from {PRIORITIES[0]} to {PRIORITIES[-1]}, got {show(priority)}")
    if type(summary) is not str or not 1 <= len(summary.strip().encode("utf-8", "replace")) <= SUMMARY_LIMIT:
        raise TriageError(f"summary: expected 1 to {SUMMARY_LIMIT} characters, got {show(summary)}")
    if type(needs_human) is not bool:
        raise TriageError(f"needs_human: expected true or false, got {show(needs_human)}")
    return {"category": category, "priority": priority, "summary": summary.strip(), "needs_human": needs_human}
