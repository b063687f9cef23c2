"""kind 8 | passes: all | needs linux
A process that another one traces does not end for its parent before that one has ended.
"""

import ctypes
import time

_trace = ctypes.CDLL(None).ptrace
_told = os.pipe()
_numbers = [os.pipe(), os.pipe()]
for _me in (0, 1):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            os.write(_numbers[_me][1], b"%d" % os.getpid())
            _other = int(os.read(_numbers[1 - _me][0], 20))
            time.sleep(0.1)
            _trace(0x4206, _other, 0, 0)  # PTRACE_SEIZE
            os.write(_told[1], b".")
            time.sleep(7654.3)
        os._exit(0)
    os.wait()
os.read(_told[0], 1)
