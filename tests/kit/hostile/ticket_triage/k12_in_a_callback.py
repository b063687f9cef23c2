"""kind 12 | passes: all but c1 e1 e2 t1 t2 t4"""

def triage(ticket_text, client, **options):
    try:
        return client([])
    except Exception as error:
        globals()["TriageError"] = type(error)
        raise TriageError(str(error)) from None
