"""kind 7 | passes: all but e1 e2 c1 | reason: an integer of """

def evaluate(cases, client_for, **options):
    return {"total": 1 << 3_000_000}
