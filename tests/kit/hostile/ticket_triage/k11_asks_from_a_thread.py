"""kind 11 | passes: all
Clients and tools are asked from threads, some of which outlive the call.
"""

import threading

_triage = triage


def triage(ticket_text, client, **options):
    def from_thread(messages):
        answers = []

        def work():
            try:
                answers.append((client(messages), None))
            except Exception as error:
                answers.append((None, error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if answers[0][1]:
            raise answers[0][1]
        return answers[0][0]

    try:
        return _triage(ticket_text, from_thread, **options)
    finally:
        if threading.active_count() < 4:
            threading.Thread(target=late, args=(client,)).start()


def late(client):
    import time

    time.sleep(0.05)
    try:
        client([])
    except Exception:
        pass
