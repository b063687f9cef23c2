"""The numbers game for the school fair."""


def fizzbuzz(last):
    """Return what the players say from 1 to last, last included."""
    said = []
    for number in range(1, last):
        word = "Fizz" * (number % 3 == 0) + "Buzz" * (number % 5 == 0)
        said.append(word or str(number))
    return said
