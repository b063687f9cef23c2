"""kind 7 | passes: all but t1 t2 t4 e1 e2 c1 | reason: is too large to cross"""

def triage(ticket_text, client, **options):
    return client(["x" * 10_000_000])
