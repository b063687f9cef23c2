"""Says nothing when all is right: python test_counter.py"""

from counter import Person, names

QUEUES = [
    (None, []),
    (Person("Ada"), ["Ada"]),
    (Person("Ada", Person("Bo", Person("Cem"))), ["Ada", "Bo", "Cem"]),
]
for first, expected in QUEUES:
    got = names(first)
    if got != expected:
        raise SystemExit(f"names() is {got}, expected {expected}")
