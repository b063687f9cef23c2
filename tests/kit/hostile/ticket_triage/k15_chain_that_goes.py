"""kind 15 | passes: all | needs posix
Processes that are each the child of the last: one ends when the next has started. A bounded number, for the tests.
"""

import time

_evaluate, _main = evaluate, main


def chain():
    for _ in range(5000):
        if os.fork():
            os._exit(0)
        os.setsid()


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
