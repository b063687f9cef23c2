"""The far end of a template (see template.py): the last part of the source that it is sent, behind those of a worker.

It imports a worker and what that imports, prepares what a worker closes itself in with, and then makes a copy of the
process for each request. In the copy the worker starts. Linux only.

A request is a JSON line over the socket at 0, with the descriptors that are 0, 1 and 2 of the copy; the answer is the
copy's number. Who asks takes the copy over as a child, since the process in between has ended by then.
"""

import ctypes
import gc
import json
import os
import signal
import socket

from grader.line.worker import entrance

REQUEST_LIMIT = 1 << 16  # bytes
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4  # from linux/prctl.h


def close_in(kept_out):
    """Return in each copy, when it has closed itself in, as a worker's close_in does; never where they are made."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # it ends with the grader, even when a submission has stopped it
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # no process of the same user can look into it, or change it
    enter = entrance(kept_out)
    gc.freeze()  # what is imported stays where it is, so copies share it
    requests = socket.socket(fileno=os.dup(0))
    numbers_out, numbers_in = os.pipe()
    while True:
        request, pipes, *_ = socket.recv_fds(requests, REQUEST_LIMIT, 3)
        if not request:  # the grader is gone
            os._exit(0)
        if os.fork() == 0:
            number = os.fork()
            if number == 0:
                break
            os.write(numbers_in, b"%d" % number)
            os._exit(0)
        os.wait()
        requests.send(os.read(numbers_out, 20))
        for pipe in pipes:
            os.close(pipe)
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # as in a process that was started
    os.setsid()
    for descriptor, pipe in enumerate(pipes):
        os.dup2(pipe, descriptor)
    request = json.loads(request)
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    closed_in = enter(request["folder"])
    requests.detach()
    os.closerange(3, max(pipes[-1], numbers_in) + 1)
    return closed_in
