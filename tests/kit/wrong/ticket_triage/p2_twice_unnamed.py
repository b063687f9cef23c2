"""P2: a key given twice is refused, and the message does not name it."""


def _no_name_twice(pairs):
    """Return the pairs of a JSON object as a dict; the decoder alone keeps the last of two equal names."""
    record = dict(pairs)
    if len(record) < len(pairs):
        names = set()
        for name, _ in pairs:
            if name in names:
                raise TriageError("a key is given twice")
            names.add(name)
    return record
