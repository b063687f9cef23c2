"""kind 13 | passes: all but c1 e1 e2 t1 t2 t4 | reason: bytes in one test"""

def triage(ticket_text, client, **options):
    while True:
        try:
            client([[]] * 200_000)
        except Exception:
            continue
