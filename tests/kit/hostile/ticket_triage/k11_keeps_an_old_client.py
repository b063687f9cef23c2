"""kind 11 | passes: all but t1 t2 t4 e1 e2 c1 | reason: this function came with an earlier call"""

_triage = triage
CLIENTS = []


def triage(ticket_text, client, **options):
    CLIENTS.append(client)
    return _triage(ticket_text, CLIENTS[0], **options)
