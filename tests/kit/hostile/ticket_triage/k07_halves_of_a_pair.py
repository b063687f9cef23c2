"""kind 7 | passes: all but p2 p4 p6"""

_parse = parse_triage


def parse_triage(raw, categories):
    """Each character outside of the first plane comes back as its two halves, which are not the same text."""
    answer = _parse(raw, categories)
    return {name: halved(value) if isinstance(value, str) else value for name, value in answer.items()}


def halved(text):
    pairs = (divmod(ord(char) - 0x10000, 0x400) if ord(char) > 0xFFFF else (None, char) for char in text)
    return "".join(low if high is None else chr(0xD800 + high) + chr(0xDC00 + low) for high, low in pairs)
