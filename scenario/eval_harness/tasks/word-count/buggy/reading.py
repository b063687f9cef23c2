"""Words of a text, for the reading report."""


def word_counts(text):
    """Return {word: how often it occurs}, in lower case. A word is a row of letters; all else parts words."""
