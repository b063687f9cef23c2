"""kind 7 | passes: all but b1 b2 w1 w2 w3 a1 a2 | reason: too large
Blanks in the JSON are free, and two megabytes of them are too many.
"""

_build = build_messages


def build_messages(instructions, data):
    messages = _build(instructions, data)
    messages[1]["content"] = messages[1]["content"].replace("\n</data>", " " * (2 << 20) + "\n</data>")
    return messages
