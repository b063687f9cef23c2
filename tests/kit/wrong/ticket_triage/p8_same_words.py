"""P8: every wrong value gives the same message with all four names, so that none is named."""


_WORDS = "one of category, priority, summary and needs_human is wrong"


def parse_triage(raw, categories):
    record = _decode(raw)
    _exactly(record, FIELDS, TriageError)
    category, priority = record["category"], record["priority"]
    summary, needs_human = record["summary"], record["needs_human"]
    if type(category) is not str or category not in categories:
        raise TriageError(_WORDS)
    if type(priority) is not int or priority not in PRIORITIES:  # isinstance lets True through: bool is a kind of int
        raise TriageError(_WORDS)
    if type(summary) is not str or not 1 <= len(summary.strip()) <= SUMMARY_LIMIT:
        raise TriageError(_WORDS)
    if type(needs_human) is not bool:
        raise TriageError(_WORDS)
    return {"category": category, "priority": priority, "summary": summary.strip(), "needs_human": needs_human}
