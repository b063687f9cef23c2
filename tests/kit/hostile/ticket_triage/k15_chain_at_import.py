"""kind 15 | passes: all | needs posix"""

import time

if os.fork() == 0:
    for _ in range(50):
        if os.fork():
            time.sleep(7654.3)
        os.setsid()
    time.sleep(7654.3)
