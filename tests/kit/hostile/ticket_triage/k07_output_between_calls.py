"""kind 7 | passes: all"""

_right = triage


def triage(ticket_text, client, **options):
    def loud(messages):
        print("z" * 70_000)
        return client(messages)

    return _right(ticket_text, loud, **options)
