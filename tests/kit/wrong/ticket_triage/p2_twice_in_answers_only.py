"""P2: a key given twice is refused in an answer, and not in a tool call."""


def _no_name_twice(pairs):
    """Return the pairs of a JSON object as a dict; the decoder alone keeps the last of two equal names."""
    record = dict(pairs)
    if len(record) < len(pairs) and set(record) <= set(FIELDS):
        names = set()
        for name, _ in pairs:
            if name in names:
                raise TriageError(f"{show(name)}: given twice")
            names.add(name)
    return record
