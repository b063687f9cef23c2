"""Numbers for the lottery page: in how many orders can the balls be drawn?"""


def factorial(number):
    """Return 1 * 2 * ... * number; 1 for 0."""
    product = 1
    for factor in range(2, number + 1):
        product *= factor
    return product
