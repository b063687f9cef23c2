"""Says nothing when all is right: python test_lottery.py"""

from lottery import factorial

for number, expected in ((0, 1), (1, 1), (3, 6), (6, 720)):
    got = factorial(number)
    if got != expected:
        raise SystemExit(f"factorial({number}) is {got}, expected {expected}")
