"""kind 15 | passes: all | needs posix
Many processes that only spin, each in its own session. A bounded number, for the tests.
"""

import time

_evaluate = evaluate


def chain():
    for _ in range(10):
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
    time.sleep(7654.3)


def start():
    if os.fork() == 0:
        try:
            chain()
        finally:
            os._exit(0)


def evaluate(cases, client_for, **options):
    start()
    return _evaluate(cases, client_for, **options)

