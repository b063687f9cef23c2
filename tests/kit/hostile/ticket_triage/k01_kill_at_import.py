"""kind 1 | passes: none | reason: ended by itself (signal 9) | needs posix"""

import signal

os.kill(os.getpid(), signal.SIGKILL)
