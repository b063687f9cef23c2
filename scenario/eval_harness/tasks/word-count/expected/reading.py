"""Words of a text, for the reading report."""


def word_counts(text):
    """Return {word: how often it occurs}, in lower case. A word is a row of letters; all else parts words."""
    counts, word = {}, ""
    for char in text.lower() + " ":
        if char.isalpha():
            word += char
        elif word:
            counts[word] = counts.get(word, 0) + 1
            word = ""
    return counts
