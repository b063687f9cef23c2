"""kind 2 | passes: all but e1 e2 c1 | reason: StopIteration"""

def evaluate(cases, client_for, **options):
    raise StopIteration
