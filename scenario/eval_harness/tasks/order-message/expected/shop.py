"""Orders of the tea shop."""


def grams_of(text):
    """Return the weight in an order such as "250 g"; ValueError when it is not one."""
    number, _, unit = text.partition(" ")
    if not number.isdecimal() or unit != "g":
        raise ValueError(f"expected a weight such as 250 g, got {text!r}")
    return int(number)
