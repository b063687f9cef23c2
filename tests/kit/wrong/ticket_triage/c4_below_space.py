"""C4: only characters below the space are escaped; U+2028 and a lone surrogate stay."""


def printable(text):
    """Return text on one line, with every control, format and surrogate character escaped."""
    return "".join(char if char >= " " else ascii(char)[1:-1] for char in text)
