"""The pipes to a worker. Reading and writing end at a deadline, whoever holds the other end."""

import collections
import contextlib
import os
import sys
import threading
import time

from grader.line.processes import end_process
from grader.line.protocol import MESSAGE_LIMIT, Malformed

SLICE = 0.1  # seconds between two looks at whether the worker lives
F_SETPIPE_SZ, PIPE_SIZE = 1031, 1 << 18  # fcntl has the name from Python 3.10 on; bytes
PART = 1 << 16  # bytes that are read at once


class Channel:
    """Writes bytes to a process, and reads lines from it."""

    def __init__(self, process):
        self.process = process  # what has stdin, stdout and poll(), like a subprocess.Popen
        self.lines = collections.deque()  # lines that have come, without their ends
        self.rest = b""  # what has come of the next line
        self.output, self.input = process.stdout.fileno(), process.stdin.fileno()
        if os.name != "nt":
            from select import POLLIN, POLLOUT, poll

            os.set_blocking(self.input, False)
            self.to_read, self.to_write = poll(), poll()
            self.to_read.register(self.output, POLLIN)
            self.to_write.register(self.input, POLLOUT)

    def has_unread(self):
        """Return whether something has come that nobody has read."""
        return bool(self.lines or self.rest)

    def wait(self, pipe, deadline):
        """Wait until a pipe can be used; TimeoutError past the deadline, EOFError when the worker is gone.

        A forked child can hold the pipe open after the worker's end, so the pipe alone does not tell.
        """
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if pipe.poll(1000 * min(left, SLICE)):
                return
            if self.process.poll() is not None and not pipe.poll(0):
                raise EOFError

    def write_at_once(self, data):
        """Write as much as the pipe takes without a wait, and return the rest."""
        if os.name == "nt":
            return data
        if sys.platform == "linux":
            from fcntl import fcntl

            with contextlib.suppress(OSError):  # this user has too many in pipes already
                fcntl(self.input, F_SETPIPE_SZ, PIPE_SIZE)
        with contextlib.suppress(OSError):  # who reads it has ended, which is found out later
            data = data[os.write(self.input, data) :]
        return data

    def write(self, data, deadline):
        if os.name == "nt":
            with Watchdog(self.process, deadline):
                self.process.stdin.write(data)
                self.process.stdin.flush()
            return
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.input, view) :]
            except BlockingIOError:
                self.wait(self.to_write, deadline)

    def read(self, deadline):
        """Return the next line without its end; EOFError when the worker is gone, Malformed when it is too long."""
        while not self.lines:
            if len(self.rest) > MESSAGE_LIMIT:
                raise Malformed(f"a line of more than {MESSAGE_LIMIT:,} bytes")
            *lines, self.rest = (self.rest + self.read_part(deadline)).split(b"\n")
            self.lines.extend(lines)
        if time.monotonic() > deadline:  # also when lines are waiting: a worker could talk on and on
            raise TimeoutError
        return self.lines.popleft()

    def read_part(self, deadline):
        """Return what comes next, as soon as something comes."""
        if os.name == "nt":
            with Watchdog(self.process, deadline):
                part = os.read(self.output, PART)
        else:
            self.wait(self.to_read, deadline)
            part = os.read(self.output, PART)
        if not part:
            raise EOFError
        return part


class Watchdog:
    """Windows: pipes cannot be waited for there, so the worker is ended at the deadline, which ends the wait."""

    def __init__(self, process, deadline):
        self.late = False
        self.timer = threading.Timer(max(0.0, deadline - time.monotonic()), self.bark, [process])

    def bark(self, process):
        self.late = True
        end_process(process, set(), False)

    def __enter__(self):
        self.timer.start()

    def __exit__(self, kind, error, trace):
        self.timer.cancel()
        self.timer.join()
        if self.late:
            raise TimeoutError
