"""P2: a key given twice passes when both values are the same."""


def _no_name_twice(pairs):
    """Return the pairs of a JSON object as a dict; the decoder alone keeps the last of two equal names."""
    record = dict(pairs)
    if len(record) < len(pairs):
        for name, value in pairs:
            if value != record[name]:
                raise TriageError(f"{name}: given twice")
    return record
