"""kind 15 | passes: all | needs posix
As before, deaf to what can be ignored, and from a thread.
"""

import signal
import time

_evaluate, _main = evaluate, main


def chain():
    import threading

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTSTP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    for _ in range(30):
        thread = threading.Thread(target=go_on)
        thread.start()
        time.sleep(7654.3)


def go_on():
    if os.fork() == 0:
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
