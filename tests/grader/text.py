"""What strangers wrote, as text to show: names, paths, reasons, values, whatever a submission said or is called.

Each text of a stranger that leaves the grader goes through visible(), and then through the escaping of its form.
"""

import re
import unicodedata
from pathlib import Path

LINE_LIMIT = 2000  # characters of one text on one line
REASON_LIMIT = 400  # characters of a reason, and of a line of the submission
# characters that take no room or look like a blank, beyond those that str.isprintable() knows
HIDDEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
WIDE_BLANK = "\u3000"  # between the names of a Japanese: it shows, by its width


def shortened(text, limit=LINE_LIMIT):
    """Return text, its middle replaced by its length when it has more than limit characters."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]} ... {text[-(limit // 4) :]} ({len(text):,} characters)"


def told_of(error):
    """Return an exception of the grader's own as a line, with the file and the line that raised it."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f" ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {shortened(str(error), REASON_LIMIT)}{place}"


def visible(text, limit=LINE_LIMIT):
    """Return text on one line, cut, with an escape such as \\x1b for each character that does not show.

    So it turns no line around, colours no terminal, and two texts that differ look different. A letter stays, whatever
    its writing.
    """
    text = shortened(str(text), limit)
    if text.isprintable() and not HIDDEN.search(text):
        return text
    return "".join(char if shows(char) else ascii(char)[1:-1] for char in text)


def shows(char):
    return char == WIDE_BLANK or (char.isprintable() and not HIDDEN.match(char))


def look_of(name):
    """Return what names that look alike have in common, such as "é" in one character and in two."""
    return unicodedata.normalize("NFKC", visible(name))


def visible_lines(text):
    """Return the lines of a text, each of them visible."""
    return [visible(line) for line in text.splitlines()]
