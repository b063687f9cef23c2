"""Says nothing when all is right: python test_fizzbuzz.py"""

from fizzbuzz import fizzbuzz

ROUNDS = {
    0: [],
    1: ["1"],
    3: ["1", "2", "Fizz"],
    5: ["1", "2", "Fizz", "4", "Buzz"],
    15: ["1", "2", "Fizz", "4", "Buzz", "Fizz", "7", "8", "Fizz", "Buzz", "11", "Fizz", "13", "14", "FizzBuzz"],
}
for last, expected in ROUNDS.items():
    got = fizzbuzz(last)
    if got != expected:
        raise SystemExit(f"fizzbuzz({last}) is {got}, expected {expected}")
