"""POSIX: a process that clears up when the grader is killed: kill -9 leaves no submission running, and no folder."""

import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path

from grader.line.processes import remove_folder

CLEAR_LIMIT = 5.0  # seconds to end what the grader left
PAUSE = 0.02  # seconds between two looks at what is left


class Guard:
    """Guards while it is entered. prefixes: how the names of the folders for temporary files begin,
    first those that submissions work in.
    """

    current = None  # the one that guards this process

    def __init__(self, *prefixes):
        self.place, self.prefixes = tempfile.gettempdir(), prefixes
        self.line = self.back = None  # pipes: to the guard, which says nothing by closing the other

    def __enter__(self):
        if os.name != "nt":
            (out, self.line), (self.back, end) = os.pipe(), os.pipe()  # no program that is started inherits them
            child = os.fork()
            if child == 0:
                self.stand(out)
            os.close(out)
            os.close(end)
            os.waitpid(child, 0)
        Guard.current = self
        return self

    @classmethod
    def leave_to_parent(cls):
        """In a process that was forked: leave it to the first one's end alone to call the guard."""
        if cls.current is not None and cls.current.line is not None:
            os.close(cls.current.line)

    def __exit__(self, *_):
        Guard.current = None
        if self.line is not None:
            with contextlib.suppress(OSError):  # it was ended
                os.write(self.line, b"done")
            os.read(self.back, 1)  # nothing, once it has ended
            os.close(self.line)
            os.close(self.back)

    def stand(self, out):
        """Wait for the grader's end: the life of the process.
        It is nobody's child, or the grader would take it for a submission's.
        """
        try:
            os.setsid()
            if os.fork() == 0:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                    signal.signal(number, signal.SIG_IGN)
                os.close(self.line)
                for number in range(3):  # who reads the grader's output waits for its end alone
                    os.dup2(os.open(os.devnull, os.O_RDWR), number)
                if not os.read(out, 1):  # the line has closed without a word
                    self.clear()
        finally:
            os._exit(0)

    def clear(self):
        """End what works in the folders, as far as this system tells, and remove them."""
        end = time.monotonic() + CLEAR_LIMIT
        while time.monotonic() < end and (left := processes_of(os.path.join(self.place, self.prefixes[0]))):
            for number in left:
                with contextlib.suppress(OSError):
                    os.kill(number, signal.SIGKILL)
            time.sleep(PAUSE)
        for prefix in self.prefixes:
            for folder in Path(self.place).glob(f"{prefix}*"):
                remove_folder(folder)


def processes_of(prefix):
    """Linux: return the numbers of the processes that work in a folder whose path begins so,
    or have it in their environment.
    """
    found, own = [], str(os.getpid())
    for entry in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc/self") else ()):
        try:
            environment = Path("/proc", entry, "environ").read_bytes()
            place = os.readlink(f"/proc/{entry}/cwd")
        except OSError:  # another user's, or it has ended
            continue
        if entry != own and (os.fsencode(f"={prefix}") in environment or place.startswith(prefix)):
            found.append(int(entry))
    return found
