"""C4: what is printed is not escaped."""


def printable(text):
    """Return text on one line, with every control, format and surrogate character escaped."""
    return text
