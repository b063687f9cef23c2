"""kind 5 | passes: all but t1 t2 t4 e1 e2 c1 | reason: ran longer than | limit 1"""

def triage(ticket_text, client, **options):
    while True:
        try:
            client([{"role": "user", "content": "x"}])
        except Exception:
            continue
