"""C4: characters that cannot be printed are dropped, not escaped."""


def printable(text):
    """Return text on one line, with every control, format and surrogate character escaped."""
    return "".join(char if char.isprintable() else "" for char in text)
