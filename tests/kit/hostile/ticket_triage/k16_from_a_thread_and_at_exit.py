"""kind 16 | passes: all
The same from a thread, and in what is registered for the end.
"""

import atexit
import threading

_main = main


def look():
    assert sys.stdout.fileno() == 1
    print("said", file=sys.stderr if threading.current_thread() is threading.main_thread() else sys.__stderr__)


def main(argv=None):
    found = []
    thread = threading.Thread(target=lambda: found.append(_main(argv)))
    thread.start()
    thread.join()
    return found[0]


atexit.register(look)
thread = threading.Thread(target=look)
thread.start()
thread.join()
