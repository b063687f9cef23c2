"""kind 7 | passes: all but e1 e2 c1 | reason: is too large to cross"""

def evaluate(cases, client_for, **options):
    return "x" * 10_000_000
