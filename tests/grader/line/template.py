"""Linux: workers that are there at once, for a grader that needs many.

To start an interpreter and import what every submission imports takes a third of a grading. A Template has done that
once, and has nothing of a submission in it; each worker is a copy of it (fork), and begins as one that was started,
but that copies share the seed of hash().
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

from grader.line.processes import END_LIMIT, guard_this_process, signal_group, wait_for

COPY_LIMIT = 10.0  # seconds for a template to start, and to make a copy


class Template:
    """A process that makes copies of itself when asked. Where there is none, or it fails, workers are started."""

    def __init__(self, limits, environment):
        """limits say which interpreter it is; environment: the variables of it and its copies."""
        guard_this_process()  # before it starts: so its copies become children of this process
        self.command = limits.command(0)
        self.process = None
        self.line, far = socket.socketpair()
        self.line.settimeout(COPY_LIMIT)
        source = limits.source("grader.line.copier")
        pipes = {"stdin": far, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            self.process = subprocess.Popen(
                limits.command(len(source)), env=environment, start_new_session=True, **pipes
            )
            self.line.sendall(source)
        except OSError:
            self.end()
            raise
        finally:
            far.close()

    def copy(self, folder, environment, stderr):
        """Return a Copy that works in folder, with these variables more; OSError when none comes."""
        (input_out, input_in), (output_out, output_in) = os.pipe(), os.pipe()
        try:
            request = json.dumps({"folder": folder, "environment": environment}).encode("ascii")
            socket.send_fds(self.line, [request], [input_out, output_in, stderr])
            number = int(self.line.recv(20))
            if os.waitpid(number, os.WNOHANG) != (0, 0):  # an OSError, when it is not a child of this process
                raise ValueError("it has ended at once")
        except (OSError, ValueError) as error:
            os.close(input_in)
            os.close(output_out)
            raise OSError("no copy of the worker came") from error
        finally:
            os.close(input_out)
            os.close(output_in)
        return Copy(number, open(input_in, "wb", buffering=0), open(output_out, "rb", buffering=0))

    def end(self):
        self.line.close()
        if self.process is not None:
            signal_group(self.process, signal.SIGKILL)
            wait_for(self.process, END_LIMIT)


class Copy:
    """A process that a Template has made: what subprocess.Popen is for one that is started here."""

    def __init__(self, pid, stdin, stdout):
        self.pid, self.stdin, self.stdout, self.returncode = pid, stdin, stdout, None

    def poll(self):
        """Return the exit code, or None while it runs."""
        if self.returncode is None:
            try:
                number, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # a signal's handler came between the last call and its result
                number, status = self.pid, 0
            if number:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout):
        """Return the exit code; TimeoutExpired when there is none after timeout seconds."""
        deadline, pause = time.monotonic() + timeout, 0.0005
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("worker", timeout)
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        return self.returncode


def template_for(limits, environment):
    """Return a Template for workers with these limits, or None where this system has none."""
    if sys.platform != "linux" or limits.prefix:
        return None
    try:
        return Template(limits, environment)
    except OSError:  # workers are started, and say why they cannot be
        return None
