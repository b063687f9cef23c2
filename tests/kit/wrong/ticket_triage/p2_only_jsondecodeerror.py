"""P2: only JSONDecodeError is caught, and an integer of 5000 digits is a plain ValueError."""


def _decode(raw):
    """Return the JSON object that a reply consists of (P1, P2)."""
    if not isinstance(raw, str):
        raise TriageError(f"reply: expected text, got {show(raw)}")
    text = raw.strip()
    if text.startswith("```"):
        opening, _, inside = text.partition("\n")
        if opening.rstrip().lower() in ("```", "```json") and inside.endswith("```"):
            text = inside[: -len("```")].strip()
    try:
        record, end = _DECODER.raw_decode(text)
    except (json.JSONDecodeError, RecursionError) as error:  # no JSON or too many digits; nested too deep
        raise TriageError(f"reply: expected one JSON object: {error}") from error
    if end < len(text):
        raise TriageError(f"reply: expected one JSON object and nothing after it, got {show(text[end:])}")
    if type(record) is not dict:
        raise TriageError(f"reply: expected one JSON object, got {show(record)}")
    return record
