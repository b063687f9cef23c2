"""kind 6 | passes: all but e1 e2 c1 | reason: ran longer than | limit 1"""

def evaluate(cases, client_for, **options):
    while True:
        pass
