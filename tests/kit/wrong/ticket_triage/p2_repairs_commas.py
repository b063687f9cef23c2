"""P2: a comma too many is repaired."""


def _decode(raw):
    """Return the JSON object that a reply consists of (P1, P2)."""
    if not isinstance(raw, str):
        raise TriageError(f"reply: expected text, got {show(raw)}")
    text = raw.strip()
    if text.startswith("```"):
        opening, _, inside = text.partition("\n")
        if opening.rstrip().lower() in ("```", "```json") and inside.endswith("```"):
            text = inside[: -len("```")].strip()
    text = text.replace(",}", "}")
    try:
        record, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:  # no JSON or too many digits; nested too deep
        raise TriageError(f"reply: expected one JSON object: {error}") from error
    if end < len(text):
        raise TriageError(f"reply: expected one JSON object and nothing after it, got {show(text[end:])}")
    if type(record) is not dict:
        raise TriageError(f"reply: expected one JSON object, got {show(record)}")
    return record
