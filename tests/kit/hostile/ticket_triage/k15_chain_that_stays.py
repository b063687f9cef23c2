"""kind 15 | passes: all | needs posix
Processes that are each the child of the last, each in its own session: all stay.
"""

import time

_evaluate, _main = evaluate, main


def chain():
    for _ in range(100):
        if os.fork():
            time.sleep(7654.3)
        os.setsid()
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


def main(argv=None):
    start()
    return _main(argv)
