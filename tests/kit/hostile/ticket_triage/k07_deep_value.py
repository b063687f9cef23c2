"""kind 7 | passes: all but e1 e2 c1 | reason: """

def evaluate(cases, client_for, **options):
    value = []
    for _ in range(100_000):
        value = [value]
    return value
