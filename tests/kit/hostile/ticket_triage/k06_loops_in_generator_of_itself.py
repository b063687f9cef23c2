"""kind 6 | passes: all but e1 e2 c1 | reason: ran longer than | limit 1
A list that holds itself twice has no end when it is written down.
"""

def evaluate(cases, client_for, **options):
    value = []
    value += [value, value]
    return value
