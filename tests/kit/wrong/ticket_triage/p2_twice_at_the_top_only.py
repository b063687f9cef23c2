"""P2: a key given twice is seen at the top of a reply, and not inside the arguments."""


def _no_name_twice(pairs):
    """Return the pairs of a JSON object as a dict; the decoder alone keeps the last of two equal names."""
    record = dict(pairs)
    if len(record) < len(pairs) and ("tool" in record or set(record) <= set(FIELDS)):
        names = set()
        for name, _ in pairs:
            if name in names:
                raise TriageError(f"{show(name)}: given twice")
            names.add(name)
    return record
