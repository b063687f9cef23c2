"""kind 6 | passes: all but e1 e2 c1 | reason: ran longer than | limit 1"""

import threading

LOCK = threading.Lock()


def evaluate(cases, client_for, **options):
    with LOCK, LOCK:
        return {}
