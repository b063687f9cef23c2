"""The pipes to a worker. Reading and writing end at a deadline, whoever holds the other end."""

import collections
import contextlib
import os
import queue
import sys
import threading
import time

from grader.line.protocol import MESSAGE_LIMIT, Malformed

SLICE = 0.1  # seconds between two looks at whether the worker lives
F_SETPIPE_SZ, PIPE_SIZE = 1031, 1 << 18  # fcntl has the name from Python 3.10 on; bytes
PART = 1 << 16  # bytes that are read at once
PARTS_LIMIT = 4  # parts that wait to be read


class Channel:
    """Reads lines from a process, of which its kinds bring the parts, and writes bytes to it."""

    def __init__(self, process):
        self.process = process  # what has stdin, stdout and poll(), like a subprocess.Popen
        self.lines = collections.deque()  # lines that have come, without their ends
        self.rest = b""  # what has come of the next line
        self.output, self.input = process.stdout.fileno(), process.stdin.fileno()

    def has_unread(self):
        """Return whether something has come that nobody has read."""
        return bool(self.lines or self.rest)

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


class PolledChannel(Channel):
    """POSIX: a pipe can be asked whether it is ready."""

    def __init__(self, process):
        from select import POLLIN, POLLOUT, poll

        super().__init__(process)
        os.set_blocking(self.input, False)
        self.to_read, self.to_write = poll(), poll()
        self.to_read.register(self.output, POLLIN)
        self.to_write.register(self.input, POLLOUT)

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
        if sys.platform == "linux":
            from fcntl import fcntl

            with contextlib.suppress(OSError):  # this user has too many in pipes already
                fcntl(self.input, F_SETPIPE_SZ, PIPE_SIZE)
        with contextlib.suppress(OSError):  # who reads it has ended, which is found out later
            data = data[os.write(self.input, data) :]
        return data

    def write(self, data, deadline):
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.input, view) :]
            except BlockingIOError:
                self.wait(self.to_write, deadline)

    def read_part(self, deadline):
        """Return what comes next, as soon as something comes."""
        self.wait(self.to_read, deadline)
        part = os.read(self.output, PART)
        if not part:
            raise EOFError
        return part

    def close_input(self):
        try:
            self.process.stdin.close()
        except OSError:  # what was not yet written is of no use any more
            pass

    def close_output(self):
        self.process.stdout.close()


class ThreadedChannel(Channel):
    """Windows: a pipe there can only be waited for by a thread that is then stuck until something comes.

    Each pipe has a thread, which closes it too: to close a pipe that another thread reads would be stuck as well. A
    thread that a process keeps stuck, although its worker has ended, is left behind.
    """

    def __init__(self, process):
        super().__init__(process)
        self.parts = queue.Queue(PARTS_LIMIT)  # what has come; b"" is the end
        self.to_write = queue.Queue()  # bytes; None is the end
        self.written = queue.Queue()  # for each, None or the OSError of it
        self.unchecked = 0  # of these, how many no write has waited for
        self.closed = False
        for work in (self.bring, self.carry):
            threading.Thread(target=work, daemon=True).start()

    def bring(self):
        """Put what comes into the queue, until it ends or nobody reads it any more."""
        part = None
        while part != b"" and not self.closed:
            try:
                part = os.read(self.output, PART)
            except OSError:
                part = b""
            self.put(part)
        self.process.stdout.close()

    def put(self, part):
        while not self.closed:
            try:
                self.parts.put(part, timeout=SLICE)
                return
            except queue.Full:
                continue

    def carry(self):
        """Write what is in the queue."""
        for data in iter(self.to_write.get, None):
            try:
                view = memoryview(data)
                while view:
                    view = view[self.process.stdin.write(view) :]
                self.written.put(None)
            except OSError as error:
                self.written.put(error)
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def wait(self, waiting, deadline):
        """Return the next thing of a queue; TimeoutError past the deadline, EOFError when the worker is gone."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            gone = self.process.poll() is not None
            try:
                return waiting.get(timeout=min(left, SLICE))
            except queue.Empty:
                if gone:
                    raise EOFError from None

    def write_at_once(self, data):
        """Let the thread write data; return what is left to write: nothing."""
        self.to_write.put(data)
        self.unchecked += 1
        return b""

    def write(self, data, deadline):
        self.to_write.put(data)
        for _ in range(self.unchecked + 1):
            error = self.wait(self.written, deadline)
            if error is not None:
                raise error
        self.unchecked = 0

    def read_part(self, deadline):
        """Return what comes next, as soon as something comes."""
        part = self.wait(self.parts, deadline)
        if not part:
            self.parts.put(b"")  # also for who asks again
            raise EOFError
        return part

    def close_input(self):
        self.to_write.put(None)

    def close_output(self):
        self.closed = True


def channel_to(process):
    """Return a Channel to a process, of the kind that this system can have."""
    return (ThreadedChannel if os.name == "nt" else PolledChannel)(process)
