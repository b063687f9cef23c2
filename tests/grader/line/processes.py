"""Processes and folders: what differs between Linux, macOS and Windows stands here, and in channel.py for pipes.

On Linux and Windows nothing that a submission starts gets away. On macOS a process that leaves the worker's group does.
A sandbox given by --exec does not have this gap.
"""

import os
import re
import signal
import stat
import subprocess
import sys
import time

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36  # from linux/prctl.h
REMOVE_TRIES, REMOVE_PAUSE = 20, 0.1  # Windows: how often a folder is tried, and seconds between two tries
PAUSE = 0.001  # seconds between two looks at whether processes have ended
END_LIMIT = 2.0  # seconds for a process to end that was told to
FAMILY_LIMIT = 10.0  # seconds to end what a worker left
OWN_END = 5.0  # seconds for a worker elsewhere to end by itself, and clear up, when the line has closed
CLIENT_END = 10.0  # seconds for its client (ssh, srun, docker) to end what is left when asked: killed, it leaves that
ANSWER_TIME = 0.5  # seconds for a worker that is late to tell where it is
ANSWER_PAUSE = 0.01  # seconds between two looks at whether it has
ANSWER_LIMIT = 16384  # bytes of what it tells


def guard_this_process():
    """Linux: processes whose parent ends become this one's children, so that none gets lost, and no process
    of the same user can look into this one's memory. Else: nothing."""
    if sys.platform == "linux":
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def children(number="self"):
    """Linux: return the numbers of a process's children (this one's by default), oldest first. Else: nothing."""
    if sys.platform != "linux":
        return []
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):  # a kernel without these lists
        return children_among_all(os.getpid() if number == "self" else number)
    found = []
    for task in list_or_nothing(f"/proc/{number}/task"):
        try:
            with open(f"/proc/{number}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
        except OSError:  # it ended in the meantime
            continue
    return found


def children_among_all(number):
    """Return the numbers of a process's children, found among all processes."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it ended in the meantime
            continue
        if parent == number:
            found.append(int(entry))
    return found


def list_or_nothing(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def end_process(process, before, gently, job=None):
    """End the worker, its process group, and on Linux every process that it left behind.

    gently: let it end by itself, then ask. A client such as docker's passes that on; killed, it leaves its container.
    job: Windows: what holds it and all that it has started, or None.
    """
    if os.name == "nt":
        if gently:
            wait_for(process, OWN_END)
        if job is not None:
            job.end()
        elif process.poll() is None:
            end_tree(process)
    else:
        if gently:
            wait_for(process, OWN_END)
            signal_group(process, signal.SIGTERM)
            wait_for(process, CLIENT_END)
        signal_group(process, signal.SIGKILL)
    wait_for(process, END_LIMIT)
    end_children(lambda number: number not in before and number != process.pid)


def end_tree(process):
    """Windows: end a process that is not in a job, and what it has started as far as is known there."""
    try:
        command = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(command, capture_output=True, timeout=END_LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired):  # it is not there, or is stuck: then at least the process itself
        pass
    if process.poll() is None:
        process.kill()


def end_children(meant):
    """Linux: end this process's children for which meant(number) holds, and all that they have started.

    It is a race: a process that each time starts another and ends is gone before its number is used. One that is
    stopped starts nothing, so first all are stopped, from the oldest on, which is quicker than they can start others.
    """
    deadline, ended = time.monotonic() + FAMILY_LIMIT, set()
    left = list(filter(meant, children()))
    while left and time.monotonic() < deadline:
        for number in reversed(left):  # the newest first
            try_to(os.kill, number, signal.SIGSTOP)
        family = stopped_family(number for number in left if not has_ended(number))
        for number in family:  # first all, since one that traces another keeps it from ending
            try_to(os.kill, number, signal.SIGKILL)
        if ended.issuperset(family):  # they take their time to end
            time.sleep(PAUSE)
        ended |= family
        left = list(filter(meant, children()))


def has_ended(number):
    """Return whether a child of this process has ended; it leaves the list of processes then."""
    try:
        return os.waitpid(number, os.WNOHANG)[0] == number
    except ChildProcessError:
        return True


def stopped_family(numbers):
    """Stop these processes and all that they have started; return the numbers of all of them."""
    found, new = set(), set(numbers)
    while new:
        for number in new:
            try_to(os.kill, number, signal.SIGSTOP)
        found |= new
        new = {child for number in new for child in children(number)} - found
        if not new:  # unless one was in the middle of starting another
            new = {child for number in found for child in children(number)} - found
    return found


def try_to(act, *given):
    """Do something to a process, if it is there and not another user's."""
    try:
        act(*given)
    except (ProcessLookupError, ChildProcessError, PermissionError):
        pass


def end_other_sessions():
    """Linux: end the children of this process that are in other sessions than it, as workers are."""
    own = os.getsid(0) if sys.platform == "linux" else None
    end_children(lambda number: session_of(number) not in (own, None))


def session_of(number):
    """Return the session that a process is in, or None when it has ended."""
    try:
        return os.getsid(number)
    except ProcessLookupError:
        return None


def running_lines(process, said):
    """Return [(file, line number)] of what a worker is doing, innermost first, as it tells in the file `said`.

    POSIX: it has registered for the signal. Windows: it has told so again and again since a second after the call.
    When it has not: nothing.
    """
    if process.poll() is not None:
        return []
    start = said.seek(0, os.SEEK_END)
    if os.name == "nt":
        start = max(0, start - ANSWER_LIMIT)
    else:
        os.kill(process.pid, signal.SIGUSR1)
        deadline = time.monotonic() + ANSWER_TIME
        while said.seek(0, os.SEEK_END) == start and time.monotonic() < deadline:
            time.sleep(ANSWER_PAUSE)
        time.sleep(ANSWER_PAUSE)  # it may be in the middle
    said.seek(start)
    text = said.read(ANSWER_LIMIT).decode("utf-8", "replace").rpartition("Timeout (")[2]
    return [(file, int(number)) for file, number in re.findall(r'File "([^"\n]+)", line (\d{1,6}) in ', text)]


def signal_group(process, number):
    try:
        os.killpg(process.pid, number)
    except (
        ProcessLookupError,
        PermissionError,
    ):  # all have ended; another user's (sudo), who ends when the line closes
        pass


def wait_for(process, seconds):
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass


def remove_folder(folder):
    """Remove a folder, whatever a submission made of it; of a link in its place only the link.

    Folders deep inside are moved up into it before they are emptied: shutil.rmtree gives up on nesting a thousand deep.
    """
    for _ in range(REMOVE_TRIES):
        try:
            remove_what_is_there(folder)
            return
        except OSError:
            if os.name != "nt" or not os.path.lexists(folder):  # it was made immutable: not ours to fight
                return  # on Windows, what has just ended may still hold something
            time.sleep(REMOVE_PAUSE)


def remove_what_is_there(folder):
    """Remove a folder, or the link in its place; OSError when that cannot be."""
    if is_link(folder):
        os.unlink(folder)
        return
    make_writable(folder)
    waiting, number = list_of(folder), 0
    while waiting:
        inner = waiting.pop()
        if not is_folder(inner):
            remove_file(inner)
            continue
        make_writable(inner)
        for entry in list_of(inner):
            if not is_folder(entry):
                remove_file(entry)
                continue
            while os.path.lexists(os.path.join(folder, str(number))):
                number += 1
            waiting.append(os.path.join(folder, str(number)))
            make_writable(entry)  # else it cannot be moved
            os.rename(entry, waiting[-1])
        os.rmdir(inner)
    os.rmdir(folder)


def list_of(folder):
    """Return the paths of what is in a folder."""
    return [os.path.join(folder, name) for name in os.listdir(folder)]


def is_folder(path):
    return os.path.isdir(path) and not is_link(path)


def is_link(path):
    """Return whether something leads elsewhere: a link, or on Windows a junction, which needs no rights to make."""
    attributes = getattr(os.lstat(path), "st_file_attributes", 0)
    return os.path.islink(path) or bool(attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT)


def make_writable(folder):
    os.chmod(folder, 0o700)


def remove_file(path):
    """Remove a file or a link, on Windows also one that is read-only."""
    try:
        os.unlink(path)
    except PermissionError:
        if os.name != "nt" or is_link(path):
            raise
        os.chmod(path, 0o600)
        os.unlink(path)
