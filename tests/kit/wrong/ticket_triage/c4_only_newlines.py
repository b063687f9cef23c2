"""C4: only newlines are escaped."""


def printable(text):
    """Return text on one line, with every control, format and surrogate character escaped."""
    return text.replace("\n", "\\n")
