"""Says nothing when all is right: python test_reading.py"""

from reading import word_counts

TEXTS = {
    "": {},
    " ... ": {},
    "Tea? Tea, and more tea!": {"tea": 3, "and": 1, "more": 1},
    "two\nlines\ttwo": {"two": 2, "lines": 1},
    "K\xe4se k\xe4se \u0142\xf3d\u017a": {"k\xe4se": 2, "\u0142\xf3d\u017a": 1},
    "b2b": {"b": 2},
}
for text, expected in TEXTS.items():
    got = word_counts(text)
    if got != expected:
        raise SystemExit(f"word_counts({text!a}) is {got!a}, expected {expected!a}")
