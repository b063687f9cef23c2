"""kind 7 | passes: all but e1 e2 c1 | reason: RecursionError"""

def evaluate(cases, client_for, **options):
    return evaluate(cases, client_for, **options)
