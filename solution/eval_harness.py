"""Eval harness: it turns what a coding agent says, "I fixed it", into a fact.

A candidate (the agent) works in a scratch folder, and a verifier decides. Trust neither what it says nor what it left.
Write six functions, from top to bottom: shell_exit_zero, lay_over, run_sample, pass_at_k, summarize, compare.
All the rest is provided. scenario/eval_harness/TASK.md is the contract, clause by clause (V1 to C4).
Check: `python verify.py starter/eval_harness.py`. Run: `python starter/eval_harness.py scenario/eval_harness`.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import errno
import functools
import hashlib
import json
import math
import os
import queue
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import warnings

from ticket_triage import (
    A_BOOL,
    A_LIST,
    A_RATE,
    A_STRING,
    AN_OBJECT,
    CommandLine,
    ScenarioError,
    exit_code,
    one_of,
    printable,
    read_json,
    require,
    show,
)

# ---- words and limits

COST_LIMIT = 1e12  # cost units of one sample: tokens or money, whatever the candidate counts
RATE_PLACES, MS_PLACES = 6, 3  # decimal places of rates and costs, and of milliseconds
OUTPUT_LIMIT = 2000  # characters of a program's output that are kept, the last ones
FILE_LIMIT = 64 << 20  # bytes of one file
TIME_LIMIT = 86400  # seconds that a command may be given at most
NOT_READ = "__pycache__"


@dataclasses.dataclass(frozen=True)
class FixtureTask:
    """A bug to fix. Files are {path: bytes}, with / between the parts of a path; verifier is {"name", "args"}."""

    id: str
    goal: str
    editable: tuple = ()
    verifier: dict = dataclasses.field(default_factory=dict)
    buggy: dict = dataclasses.field(default_factory=dict)
    expected: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class SampleResult:
    """What a candidate(task, scratch_dir) returns. It is a claim: only the cost is believed."""

    success_self_reported: bool = False
    latency_ms: float = 0.0
    cost_units: float = 0.0
    edits: tuple = ()


@dataclasses.dataclass
class TaskReport:
    """One task: its numbers (see summarize, and the plug-in estimate) and its samples."""

    task_id: str
    numbers: dict
    details: list

    def to_dict(self):
        return {"task_id": self.task_id, **self.numbers, "details": self.details}


@dataclasses.dataclass
class EvalReport:
    """A whole run."""

    suite_sha256: str
    samples: int
    ks: tuple
    totals: dict
    tasks: list

    def to_dict(self):
        """Return the report as JSON has it."""
        return {
            "schema_version": 1,
            "suite_sha256": self.suite_sha256,
            "samples": self.samples,
            "ks": list(self.ks),
            "totals": self.totals,
            "tasks": [task.to_dict() for task in self.tasks],
        }


A_COST = (f"a number from 0 to {COST_LIMIT:g}", lambda value: type(value) in (int, float) and 0 <= value <= COST_LIMIT)


# ---- to write, 1 of 6


def shell_exit_zero(files, args, expected, run_command):
    """Decide by the exit code of a command whether files are right; return (passed, detail).

    files: the files to verify, {path: bytes}. expected is not used here.
    args: {"argv": list of str, "timeout_seconds": number of seconds}.
    run_command(files, argv, timeout_seconds) is called once, with these three by position. It returns
    (code, output), with code None when the time ran out, and raises OSError when the command cannot start.
    passed (bool) is True for the code 0 and nothing else; the output decides nothing.
    detail (str) has the code and the output; without a code, the seconds and the output; after OSError, argv[0].
    What else run_command raises passes through.

    >>> shell_exit_zero({}, {"argv": ["make"], "timeout_seconds": 9}, {}, lambda files, argv, seconds: (2, "no rule"))
    (False, 'exit code 2: no rule')
    """
    argv, seconds = args["argv"], args["timeout_seconds"]
    try:
        code, output = run_command(files, argv, seconds)
    except OSError as error:
        return False, f"{argv[0]} cannot start: {error}"
    if code is None:
        return False, f"it did not end within {seconds} s: {output}"
    return code == 0, f"exit code {code}: {output}"


# ---- to write, 2 of 6


def lay_over(buggy, work, editable):
    """Return the files to verify: the buggy ones, and over them only what the candidate was to edit.

    buggy: the files as they were given out; work: the files as the candidate left them; both {path: bytes}.
    editable: the paths that it was to edit (list or tuple of str); paths are compared whole.
    An editable path is as it is in work, also when it is new or empty, and is left out when work lacks it.
    Every other path is as in buggy, whatever the candidate rewrote, deleted or added.
    Returns a new dict; buggy and work stay as they are.

    >>> lay_over({"a.py": b"bug", "test.py": b"check"}, {"a.py": b"fix", "test.py": b"", "conftest.py": b""}, ["a.py"])
    {'test.py': b'check', 'a.py': b'fix'}
    """
    files = {path: content for path, content in buggy.items() if path not in editable}
    files.update((path, work[path]) for path in editable if path in work)
    return files


# ---- to write, 3 of 6


def _described(error):
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its own __str__ fails
        return f"{type(error).__name__}, which has no message that can be shown"


def _attempt(candidate):
    """Return (what the candidate claims, None), or (None, why that is an error)."""
    try:
        claim = candidate()
    except Exception as error:
        return None, _described(error)
    try:
        require("result", claim, "success_self_reported", A_BOOL)
        require("result", claim, "cost_units", A_COST)
    except ScenarioError as error:
        return None, str(error)
    return claim, None


def run_sample(candidate, verify, clock):
    """Let the candidate try once, and let verify decide; return the sample.

    clock() gives seconds. The calls are clock, candidate, clock, verify, in this order, without arguments,
    each once; verify is left out after an error.
    verify() returns (passed, detail). What it raises passes through: then the harness is at fault.
    Returns {"status": "pass", "fail" or "error", "detail": str, "latency_ms": float, "cost_units": number,
    "success_self_reported": bool or None}. The status is what verify says; detail is its detail.
    latency_ms is the time between the two clock calls in milliseconds, rounded to 3 places, after an error too.
    cost_units and success_self_reported are as the dict has them that the candidate returned.
    It is an error when the candidate raises an Exception (detail has its class name and message), or returns
    no dict, or the dict has no success_self_reported (a bool) or no cost_units (an int or float from 0 to
    1e12, no bool, no nan; detail names the field). Then cost_units is 0.0 and success_self_reported None.
    Nothing else that the candidate returns is read.

    >>> claim = {"success_self_reported": True, "cost_units": 3, "latency_ms": 0.0}
    >>> run_sample(lambda: claim, lambda: (False, "exit code 1: "), iter([10.0, 10.25]).__next__)["latency_ms"]
    250.0
    """
    started = clock()
    claim, fault = _attempt(candidate)
    latency_ms = round((clock() - started) * 1000, MS_PLACES)
    if fault is not None:
        sample = {"status": "error", "detail": fault, "cost_units": 0.0, "success_self_reported": None}
    else:
        passed, detail = verify()
        sample = {"status": "pass" if passed else "fail", "detail": detail}
        sample.update(cost_units=claim["cost_units"], success_self_reported=claim["success_self_reported"])
    return {**sample, "latency_ms": latency_ms}


# ---- to write, 4 of 6


def pass_at_k(n, c, k):
    """Return the chance (float) that k of the n samples, drawn without putting back, hold a pass; c of the n passed.

    This is 1 - C(n-c, k) / C(n, k), where C(n, k) is the number of ways to draw k of n.
    Raises ValueError unless n is an int of at least 1, c an int from 0 to n, and k an int from 1 to n; a bool
    is not an int here. The message begins with "n:", "c:" or "k:", the first of them that is wrong.

    >>> pass_at_k(5, 1, 2)
    0.4
    """
    if type(n) is not int or n < 1:
        raise ValueError(f"n: expected an integer of at least 1, got {show(n)}")
    if type(c) is not int or not 0 <= c <= n:
        raise ValueError(f"c: expected an integer from 0 to {n}, got {show(c)}")
    if type(k) is not int or not 1 <= k <= n:
        raise ValueError(f"k: expected an integer from 1 to {n}, got {show(k)}")
    return 1 - math.comb(n - c, k) / math.comb(n, k)


# ---- to write, 5 of 6


def summarize(samples, ks):
    """Return the numbers of one task; every sample counts in each of them, errors too.

    samples: list of what run_sample returns, at least one. ks: list or tuple of int.
    Returns exactly: samples, passes, errors (how many), pass_rate (passes / samples), pass_at_k
    ({str(k): pass_at_k(samples, passes, k)}), mean_latency_ms, p95_latency_ms, mean_cost, total_cost.
    p95 is the nearest rank: in ascending order, the latency at place ceil(0.95 * samples), counted from 1.
    Rates, pass_at_k and costs are rounded to 6 places, milliseconds to 3, once, at the end.

    >>> sample = {"status": "pass", "detail": "", "latency_ms": 40.0, "cost_units": 2, "success_self_reported": True}
    >>> summarize([sample, {**sample, "status": "fail"}], [1, 2])["pass_at_k"]
    {'1': 0.5, '2': 1.0}
    """
    count = len(samples)
    passes = sum(sample["status"] == "pass" for sample in samples)
    latencies = sorted(sample["latency_ms"] for sample in samples)
    cost = sum(sample["cost_units"] for sample in samples)
    return {
        "samples": count,
        "passes": passes,
        "errors": sum(sample["status"] == "error" for sample in samples),
        "pass_rate": round(passes / count, RATE_PLACES),
        "pass_at_k": {str(k): round(pass_at_k(count, passes, k), RATE_PLACES) for k in ks},
        "mean_latency_ms": round(sum(latencies) / count, MS_PLACES),
        "p95_latency_ms": round(latencies[math.ceil(0.95 * count) - 1], MS_PLACES),
        "mean_cost": round(cost / count, RATE_PLACES),
        "total_cost": round(cost, RATE_PLACES),
    }


# ---- to write, 6 of 6


def compare(old, new):
    """Return {"regressed", "improved", "unchanged"}: the ids of tasks with fewer, more, and as many passes.

    old, new: reports as dicts. Only suite_sha256, samples, and task_id and passes of each of tasks are read.
    The ids are in the order of new's tasks.
    Raises ScenarioError that names the field when suite_sha256 or samples differ, and one that names the task
    when only one of the reports has it.

    >>> old = {"suite_sha256": "5e1f", "samples": 5, "tasks": [{"task_id": "typo", "passes": 4}]}
    >>> compare(old, {**old, "tasks": [{"task_id": "typo", "passes": 3}]})
    {'regressed': ['typo'], 'improved': [], 'unchanged': []}
    """
    for field in ("suite_sha256", "samples"):
        if old[field] != new[field]:
            raise ScenarioError(f"{field}: {show(old[field])} is compared with {show(new[field])}")
    before = {task["task_id"]: task["passes"] for task in old["tasks"]}
    now = {task["task_id"]: task["passes"] for task in new["tasks"]}
    for task_id in before.keys() ^ now.keys():
        raise ScenarioError(f"task {task_id}: only one of the reports has it")
    return {
        "regressed": [task_id for task_id in now if now[task_id] < before[task_id]],
        "improved": [task_id for task_id in now if now[task_id] > before[task_id]],
        "unchanged": [task_id for task_id in now if now[task_id] == before[task_id]],
    }


# ---- provided: what differs between Linux, macOS and Windows

POSIX = os.name == "posix"
SLICE = 0.05  # seconds between two looks at a program that runs
END_LIMIT = 0.5  # seconds to wait for a group that was ended, and for the rest of its output
KEPT_VARIABLES = ("PATH",) if POSIX else ("PATH", "PATHEXT", "SYSTEMROOT", "COMSPEC")
HOMES = ("HOME", "TMPDIR") if POSIX else ("HOME", "USERPROFILE", "TEMP", "TMP")
NO_PLACE = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)  # the machine's fault
NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK, errno.ENXIO)  # nothing there, a link, a socket
A_JUNCTION = 0xA0000003  # what Windows has instead of a link to a folder
READ_ONLY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def is_link(info):
    return stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) == A_JUNCTION


def split_command(text):
    """Return the words of a command line, as a shell of this system takes them apart; ValueError for an open quote."""
    if POSIX:
        return shlex.split(text)
    return [word[1:-1] if word[:1] == word[-1:] in ("'", '"') else word for word in shlex.split(text, posix=False)]


def end_group(process):
    """End a program with all that it started and that is still in its group (POSIX) or below it (Windows)."""
    if not POSIX:
        if process.poll() is None:
            words = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # it is missing, or is stuck
                subprocess.run(words, capture_output=True, check=False, timeout=10 * END_LIMIT)
            process.kill()  # at least the program itself, where that has failed
    else:
        deadline = time.monotonic() + END_LIMIT
        with contextlib.suppress(ProcessLookupError, PermissionError):  # all have ended; macOS: zombies alone are left
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            while time.monotonic() < deadline:
                os.killpg(process.pid, 0)
                time.sleep(0.001)
    process.wait()


def remove_folder(folder):
    """Remove a folder, also one without rights or nested too deeply for shutil; say so when something is left."""
    if os.path.lexists(folder) and is_link(os.lstat(folder)):
        (os.unlink if POSIX else os.rmdir)(folder)
        return
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    tools = [["chmod", "-R", "u+rwx", folder], ["rm", "-rf", folder]]
    if not POSIX:
        tools = [["attrib", "-R", os.path.join(folder, "*"), "/S", "/D"], ["cmd", "/C", "rmdir", "/S", "/Q", folder]]
    for words in tools:
        subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if os.path.lexists(folder):
        say(f"{folder} cannot be removed")


class Output(threading.Thread):
    """Reads what a program writes and keeps the end of it, however much comes and whoever holds the other end."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.tail, self.until = pipe, b"", None
        self.start()

    def run(self):
        if POSIX:
            from select import POLLIN, poll

            poller = poll()
            poller.register(self.pipe, POLLIN)
        while self.until is None or time.monotonic() < self.until:
            if POSIX and not poller.poll(1000 * SLICE):
                continue
            data = os.read(self.pipe.fileno(), 1 << 16)
            if not data:
                break
            self.tail = (self.tail + data)[-8 * OUTPUT_LIMIT :]
        if self.until is None or POSIX:  # Windows: a read that never ends would keep close waiting
            self.pipe.close()

    def end(self):
        """Return the text that came; a program that got away may hold the pipe open, and is not waited for."""
        self.join(END_LIMIT)
        self.until = time.monotonic()
        self.join(END_LIMIT)
        return self.tail.decode("utf-8", "replace").replace("\r\n", "\n")


class Programs:
    """Runs programs, each in a group of its own, and can end all of them at once."""

    def __init__(self):
        self.lock, self.running, self.closed = threading.Lock(), set(), False

    def start(self, words, folder, environment, stdin):
        options = {"start_new_session": True} if POSIX else {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        pipes = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "bufsize": 0}
        with self.lock:
            if self.closed:
                raise KeyboardInterrupt
            try:
                process = subprocess.Popen(words, cwd=folder, env=environment, **pipes, **options)
            except OSError as error:
                if error.errno in NO_PLACE:
                    raise ScenarioError(f"{words[0]}: {error.strerror}") from error
                raise
            self.running.add(process)
        return process

    def run(self, words, folder, environment, seconds, stdin=subprocess.DEVNULL):
        """Run a program to its end or for so many seconds; return (exit code or None, the end of its output).

        OSError when it cannot start. All that it started has ended when this returns.
        """
        process = self.start(words, folder, environment, stdin)
        deadline, code = time.monotonic() + seconds, None
        try:
            output = Output(process.stdout)
            while output.is_alive() and process.poll() is None and time.monotonic() < deadline:
                output.join(min(SLICE, max(0.0, deadline - time.monotonic())))
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(max(0.0, deadline - time.monotonic()))
        finally:
            end_group(process)
            with self.lock:
                self.running.discard(process)
        if self.closed:
            raise KeyboardInterrupt
        return code, output.end()

    def close(self):
        """End every program that runs, and start none from now on."""
        with self.lock:
            self.closed = True
            running = list(self.running)
        for process in running:
            end_group(process)


# ---- provided: files


def read_file(path):
    """Return the bytes of a file, or None for what is not one: a link, a folder, a pipe, nothing.

    ScenarioError names a file that is too large or cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | READ_ONLY)
    except OSError as error:
        if error.errno in NO_FILE or os.path.isdir(path):  # Windows does not open a folder
            return None
        raise ScenarioError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode) or is_link(os.lstat(path)):
        os.close(descriptor)
        return None
    with open(descriptor, "rb") as file:
        content = file.read(FILE_LIMIT + 1)
    if len(content) > FILE_LIMIT:
        raise ScenarioError(f"{path}: more than {FILE_LIMIT >> 20} MiB")
    return content


def read_work(folder, paths):
    """Return the files among these paths as a candidate left them; a link on the way counts as nothing there."""
    files = {}
    for path in paths:
        parts = path.split("/")
        places = [os.path.join(folder, *parts[:count]) for count in range(len(parts))]
        for place in places:
            if not os.path.lexists(place) or is_link(os.lstat(place)):
                break
            if not os.access(place, os.R_OK | os.X_OK):
                os.chmod(place, 0o700)
        else:
            place = os.path.join(folder, *parts)
            if os.path.isfile(place) and not os.access(place, os.R_OK):
                os.chmod(place, 0o600)
            content = read_file(place)
            if content is not None:
                files[path] = content
    return files


def new_folder():
    """Make a folder that no candidate has seen, where this system has temporary files."""
    try:
        return os.path.realpath(tempfile.mkdtemp(prefix="eval-"))
    except OSError as error:
        raise ScenarioError(f"{error.filename}: {error.strerror}") from error


def write_files(folder, files):
    """Write files into a folder, which is made; ScenarioError when the machine has no room for them."""
    try:
        os.makedirs(folder)
        for path, content in files.items():
            place = os.path.join(folder, *path.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(content)
    except OSError as error:
        raise ScenarioError(f"{error.filename or folder}: {error.strerror}") from error


# ---- provided: verifiers


def file_equals(files, args, expected, run_command):
    """Pass when the file at args["path"] has the bytes that expected has."""
    path = args["path"]
    if path not in files:
        return False, f"{path}: missing"
    equal = files[path] == expected[path]
    return equal, f"{path}: {'as expected' if equal else 'not as expected'}"


def regex_match(files, args, expected, run_command):
    """Pass when args["pattern"] is found in the text of args["path"]; ^ and $ are those of each line."""
    path = args["path"]
    if path not in files:
        return False, f"{path}: missing"
    try:
        text = files[path].decode("utf-8")
    except UnicodeDecodeError as error:
        return False, f"{path}: {error}"
    found = re.search(args["pattern"], text, re.MULTILINE) is not None
    return found, f"{path}: {'found' if found else 'not found'}: {args['pattern']}"


def is_text(value):
    """Return whether value is a text that is not blank and that files and command lines can hold."""
    if type(value) is not str or not value.strip() or "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)


def is_path(value):
    """Return whether value is a path that leads to the same place inside a folder on every system."""
    if not is_text(value) or set(value) & set("\\:\n\r"):
        return False
    return all(part not in ("", ".", "..") for part in value.split("/"))


def is_pattern(value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return type(value) is str and bool(re.compile(value, re.MULTILINE))
        except (re.error, RecursionError, OverflowError):
            return False


def integer(low, high):
    return (f"an integer from {low} to {high}", lambda value: type(value) is int and low <= value <= high)


A_TEXT = ("a text that is not blank", is_text)
A_PATH = ("a relative path with / between its parts and no part . or ..", is_path)
A_PATTERN = ("a regular expression", is_pattern)
A_TIME = (
    f"a number above 0, up to {TIME_LIMIT}",
    lambda value: type(value) in (int, float) and 0 < value <= TIME_LIMIT,
)
WORDS = (
    "a list of at least one text, none blank",
    lambda value: type(value) is list and value != [] and all(map(is_text, value)),
)
PATHS = (
    f"a list of at least one, each {A_PATH[0]}, none twice",
    lambda value: type(value) is list and value != [] and all(map(is_path, value)) and len(set(value)) == len(value),
)


class VerifierRegistry:
    """The verifiers by name, each with the rules of its arguments: add one, and suites can use it.

    A verifier is function(files, args, expected, run_command) -> (passed, detail); see shell_exit_zero.
    """

    def __init__(self):
        self.functions, self.rules = {}, {}

    def add(self, name, function, **rules):
        """Add a verifier; rules: a rule (see require) for each of its arguments."""
        self.functions[name], self.rules[name] = function, rules

    def checked(self, place, verifier):
        """Return the verifier of a task.json with the arguments that count; ScenarioError names what is wrong."""
        name = require(place, verifier, "name", one_of(self.rules))
        args = require(place, verifier, "args", AN_OBJECT)
        return {
            "name": name,
            "args": {field: require(f"{place}: args", args, field, rule) for field, rule in self.rules[name].items()},
        }

    def verify(self, task, files, run_command):
        name, args = task.verifier["name"], task.verifier["args"]
        return self.functions[name](files, args, task.expected, run_command)


VERIFIERS = VerifierRegistry()
VERIFIERS.add("file_equals", file_equals, path=A_PATH)
VERIFIERS.add("regex_match", regex_match, path=A_PATH, pattern=A_PATTERN)
VERIFIERS.add("shell_exit_zero", shell_exit_zero, argv=WORDS, timeout_seconds=A_TIME)


# ---- provided: the suite


def entries(folder):
    """Return {name: whether it is a folder} of what a folder of the suite holds; ScenarioError for a link in it."""
    found = {}
    try:
        if is_link(os.lstat(folder)):
            raise ScenarioError(f"{folder}: a link")
        for name in sorted(os.listdir(folder)):
            info = os.lstat(os.path.join(folder, name))
            if is_link(info):
                raise ScenarioError(f"{os.path.join(folder, name)}: a link")
            found[name] = stat.S_ISDIR(info.st_mode)
    except OSError as error:
        raise ScenarioError(f"{folder}: {error.strerror}") from error
    found.pop(NOT_READ, None)
    return found


def read_tree(folder):
    """Return the files below a folder of the suite, at least one."""
    files, waiting = {}, [""]
    while waiting:
        above = waiting.pop()
        for name, is_folder in entries(os.path.join(folder, *above.split("/"))).items():
            path, place = above + name, os.path.join(folder, *above.split("/"), name)
            if not is_path(path):
                raise ScenarioError(f"{folder}: {show(path)}: not a name that every system can hold")
            if is_folder:
                waiting.append(path + "/")
                continue
            files[path] = read_file(place)
            if files[path] is None:
                raise ScenarioError(f"{place}: not a file")
    if not files:
        raise ScenarioError(f"{folder}: it holds no file")
    return files


def load_task(folder, task_id):
    """Return a FixtureTask; ScenarioError names the task by its folder, and the field."""
    names = entries(folder)
    for name in ("buggy", "expected"):
        if not names.get(name):
            raise ScenarioError(f"{os.path.join(folder, name)}: no such folder")
    place = os.path.join(folder, "task.json")
    record = read_json(place)
    require(place, record, "id", (f"{task_id}, as the folder is called", lambda value: value == task_id))
    goal = require(place, record, "goal", A_TEXT)
    setup = require(place, record, "setup", AN_OBJECT)
    require(f"{place}: setup", setup, "dir", one_of(["buggy"]))
    editable = require(place, record, "editable", PATHS)
    verifier = VERIFIERS.checked(f"{place}: verifier", require(place, record, "verifier", AN_OBJECT))
    buggy, expected = read_tree(os.path.join(folder, "buggy")), read_tree(os.path.join(folder, "expected"))
    path = verifier["args"].get("path")
    if path is not None and path not in editable:
        raise ScenarioError(f"{place}: verifier: args: path: {path} is not editable")
    if path is not None and path not in expected:
        raise ScenarioError(f"{place}: verifier: args: path: {path} is not in expected/")
    paths = {*buggy, *editable}
    for inner in paths:
        if any(inner.startswith(f"{outer}/") for outer in paths):
            raise ScenarioError(f"{place}: editable: {inner} lies in a file")
    return FixtureTask(task_id, goal, tuple(editable), verifier, buggy, expected)


def load_suite(folder):
    """Return the tasks of a suite, [FixtureTask]; ScenarioError names task and field, and nothing is skipped."""
    place = os.path.join(folder, "suite.json")
    is_id = re.compile(r"[A-Za-z0-9_-]+").fullmatch
    is_ids = lambda value: type(value) is list and value != [] and all(type(one) is str and is_id(one) for one in value)
    ids = require(place, read_json(place), "tasks", ("a list of ids of letters, digits, - and _, at least one", is_ids))
    for task_id in ids:
        if ids.count(task_id) > 1:
            raise ScenarioError(f"{place}: tasks: {task_id} is listed twice")
    root = os.path.join(folder, "tasks")
    names = entries(root)
    for task_id in ids:
        if not names.get(task_id):
            raise ScenarioError(f"{os.path.join(root, task_id)}: listed in suite.json, and no such folder")
    for name, is_folder in names.items():
        if is_folder and name not in ids:
            raise ScenarioError(f"{os.path.join(root, name)}: not listed in suite.json")
    return [load_task(os.path.join(root, task_id), task_id) for task_id in ids]


def suite_digest(tasks):
    """Return the SHA-256 of what the tasks hold, in order."""
    as_hex = lambda files: {path: content.hex() for path, content in files.items()}
    plain = [
        [task.id, task.goal, list(task.editable), task.verifier, as_hex(task.buggy), as_hex(task.expected)]
        for task in tasks
    ]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode("ascii")).hexdigest()


# ---- provided: candidates


def noop(task, scratch_dir):
    """The candidate that does nothing: a suite that it passes measures nothing."""
    return SampleResult()


def apply_known_fixes(tasks):
    """Return the candidate that writes the expected content of the editable files: it passes a sound suite."""
    fixes = {task.id: {path: task.expected[path] for path in task.editable if path in task.expected} for task in tasks}

    def reference(task, scratch_dir):
        for path, content in fixes[task.id].items():
            place = os.path.join(scratch_dir, *path.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(content)
        return SampleResult(success_self_reported=True, edits=tuple(fixes[task.id]))

    return reference


class CommandAgent:
    """A candidate that is a command line, run in the scratch folder with the goal on stdin.

    Exit code 0 is its claim; the last line cost_units=N of its output is its cost. `said` has the output of
    each sample that ended in another way, by scratch folder.
    """

    def __init__(self, command, seconds, programs):
        """command: the command line; seconds: how long it may take. ScenarioError when it cannot be found."""
        try:
            words = split_command(command)
        except ValueError as error:
            raise ScenarioError(f"--candidate: {error}") from error
        self.words = [os.path.abspath(word) if os.path.isfile(word) else word for word in words]
        found = shutil.which(self.words[0]) if words else None
        if found is None:
            raise ScenarioError(f"--candidate: {show(command)}: no such command")
        self.words[0] = os.path.abspath(found)
        self.seconds, self.programs, self.said = seconds, programs, {}

    def __call__(self, task, scratch_dir):
        environment = {**os.environ, "EVAL_TASK_ID": task.id, "EVAL_EDITABLE": "\n".join(task.editable)}
        with tempfile.TemporaryFile(dir=os.path.dirname(scratch_dir)) as goal:
            goal.write(task.goal.encode("utf-8"))
            goal.seek(0)
            code, output = self.programs.run(self.words, scratch_dir, environment, self.seconds, goal)
        if code != 0:
            self.said[scratch_dir] = output[-OUTPUT_LIMIT:]
        if code is None:
            raise TimeoutError(f"it ran longer than {self.seconds:g} s")
        costs = re.findall(r"^cost_units=(.*)$", output, re.MULTILINE)
        try:
            cost = float(costs[-1]) if costs else 0.0
        except ValueError:
            cost = costs[-1].strip()  # run_sample refuses it
        return SampleResult(success_self_reported=code == 0, cost_units=cost)


# ---- provided: the harness


class EvalHarness:
    """Runs a candidate over tasks: a scratch folder per sample, and another one in which it is verified."""

    def __init__(self, tasks, samples=1, ks=(1,), clock=time.perf_counter, jobs=1):
        """tasks: [FixtureTask]; samples: per task; ks: of pass@k; clock() gives seconds; jobs: side by side."""
        whole = lambda value, most: type(value) is int and 1 <= value <= most
        self.tasks, self.samples, self.ks, self.clock, self.jobs = list(tasks), samples, tuple(ks), clock, jobs
        if not self.tasks or len({task.id for task in self.tasks}) < len(self.tasks):
            raise ScenarioError("tasks: expected at least one, and no id twice")
        for name, value in (("samples", samples), ("jobs", jobs)):
            if not whole(value, sys.maxsize):
                raise ScenarioError(f"{name}: expected an integer of at least 1, got {show(value)}")
        for k in self.ks:
            if not whole(k, samples) or self.ks.count(k) > 1:
                raise ScenarioError(f"k: expected integers from 1 to {samples}, the samples, each once, got {show(k)}")
        self.programs = Programs()

    def run(self, candidate, on_sample=lambda task, number, sample, said: None):
        """Return the EvalReport of candidate(task, scratch_dir) -> SampleResult.

        on_sample is called for each sample in order, with what a CommandAgent said. Ctrl-C ends all that runs.
        """
        self.programs.closed = False
        root = new_folder()
        tries = [(task, number) for task in self.tasks for number in range(1, self.samples + 1)]
        calls = [
            functools.partial(self.sample, candidate, task, os.path.join(root, str(place)))
            for place, (task, _) in enumerate(tries)
        ]
        samples = []
        try:
            with contextlib.closing(self.side_by_side(calls)) as results:
                for (task, number), (sample, said) in zip(tries, results):
                    samples.append(sample)
                    on_sample(task, number, sample, said)
        finally:
            remove_folder(root)
        return self.report(samples)

    def side_by_side(self, calls):
        """Yield what the calls return, in order. They run in threads: Ctrl-C comes only where it is waited for."""
        futures, waiting = [concurrent.futures.Future() for _ in calls], queue.SimpleQueue()
        for pair in zip(calls, futures):
            waiting.put(pair)

        def work():
            while not self.programs.closed:
                try:
                    call, future = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self.jobs, len(calls)))]
        try:
            for thread in threads:
                thread.start()
            for place, future in enumerate(futures):
                while not future.done():
                    with contextlib.suppress(concurrent.futures.TimeoutError):  # without one, deaf to Ctrl-C on Windows
                        future.exception(4 * SLICE)
                futures[place] = None  # a sample is kept once
                yield future.result()
        finally:
            self.programs.close()
            for thread in threads:
                thread.join(10 * END_LIMIT)  # a candidate in Python cannot be ended

    def sample(self, candidate, task, folder):
        """Return (the sample of one try, what the candidate said of it)."""
        scratch = os.path.join(folder, "work")
        write_files(scratch, task.buggy)

        def attempt():
            try:
                result = candidate(FixtureTask(task.id, task.goal, task.editable), scratch)
            except (Exception, KeyboardInterrupt):
                raise
            except BaseException as leaving:  # sys.exit in a candidate ends the candidate
                raise RuntimeError(f"{type(leaving).__name__}: {leaving}") from leaving
            if not isinstance(result, SampleResult):
                raise TypeError(f"expected a SampleResult, got {show(result)}")
            return dict(vars(result))

        def verify():
            try:
                work = read_work(scratch, {**task.buggy, **dict.fromkeys(task.editable)})
            except (ScenarioError, OSError) as error:
                return False, str(error)
            return VERIFIERS.verify(task, lay_over(task.buggy, work, task.editable), self.command)

        try:
            sample = run_sample(attempt, verify, self.clock)
        finally:
            said = getattr(candidate, "said", {}).pop(scratch, "")
            remove_folder(folder)
        return {**sample, "detail": without({scratch: "."}, sample["detail"])}, without({scratch: "."}, said)

    def command(self, files, argv, timeout_seconds):
        """Run the command of a verifier on files in a folder that no candidate has seen; see shell_exit_zero."""
        folder = new_folder()
        check, home = os.path.join(folder, "check"), os.path.join(folder, "home")
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        words = [sys.executable if word == "{python}" else word for word in argv]
        try:
            write_files(check, files)
            write_files(home, {})
            code, output = self.programs.run(words, check, {**kept, **dict.fromkeys(HOMES, home)}, timeout_seconds)
        finally:
            remove_folder(folder)
        return code, without({check: ".", home: "~"}, output)[-OUTPUT_LIMIT:]

    def report(self, samples):
        groups = [samples[place : place + self.samples] for place in range(0, len(samples), self.samples)]
        reports = []
        for task, group in zip(self.tasks, groups):
            numbers = summarize(list(group), self.ks)
            plug_in = {
                str(k): round(plug_in_at_k(numbers["samples"], numbers["passes"], k), RATE_PLACES) for k in self.ks
            }
            reports.append(TaskReport(task.id, {**numbers, "pass_at_k_plug_in": plug_in}, group))
        numbers = summarize(list(samples), ())
        rate = numbers.pop("pass_rate")
        mean = lambda estimate, k: round(
            sum(estimate(self.samples, task.numbers["passes"], k) for task in reports) / len(reports), RATE_PLACES
        )
        numbers["pass_at_k"] = {str(k): mean(pass_at_k, k) for k in self.ks}
        numbers["pass_at_k_plug_in"] = {str(k): mean(plug_in_at_k, k) for k in self.ks}
        totals = {"tasks": len(reports), "pass_at_1": rate, **numbers}
        return EvalReport(suite_digest(self.tasks), self.samples, self.ks, totals, reports)


def plug_in_at_k(n, c, k):
    """Return 1 - (1-p)^k with p = c/n: it reads low, since it draws the same sample more than once."""
    return 1 - (1 - c / n) ** k


def without(places, text):
    """Return text with folders shown by their signs, places = {folder: sign}: the names differ from run to run."""
    for place, sign in places.items():
        for shown in {place, place.replace("\\", "\\\\"), place.replace("\\", "/")}:
            text = text.replace(shown, sign)
    return text


# ---- provided: the command line


def whole(text):
    """Return the whole number of at least 1 that an option gives."""
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {show(text)}")
    return int(text)


def whole_numbers(text):
    return tuple(map(whole, text.split(",")))


def number(text):
    """Return the number that an option gives."""
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected a number, got {show(text)}") from error


def options_of(argv):
    """Return the options of the command line; ScenarioError names the one that is wrong."""
    parser = CommandLine(prog="eval_harness.py", description="Measure a coding agent on bugs.", allow_abbrev=False)
    add = parser.add_argument
    add("scenario", help="a folder with suite.json and tasks/")
    add("--samples", type=whole, default=1, metavar="N", help="tries per task (default: 1)")
    add("--k", type=whole_numbers, default=(1,), metavar="K,K", help="which pass@k, each up to N (default: 1)")
    add("--jobs", type=whole, default=1, metavar="J", help="samples side by side (default: 1)")
    add("--candidate", default="reference", metavar="CMD", help="reference (default), noop or a command line")
    add("--timeout", type=number, default=600.0, metavar="S", help="seconds per sample of a command (default: 600)")
    add("--out", metavar="FILE", help="write the report to this file too")
    add("--baseline", metavar="FILE", help="an earlier report: exit 1 when a task passes less often")
    add("--min-pass", type=number, default=0.0, metavar="X", help="the pass@1 to reach, 0 to 1 (default: 0)")
    options = parser.parse_args(argv)
    require("command line", {"--timeout": options.timeout}, "--timeout", A_TIME)
    require("command line", {"--min-pass": options.min_pass}, "--min-pass", A_RATE)
    if max(options.k) > options.samples or len(set(options.k)) < len(options.k):
        raise ScenarioError(f"--k: expected numbers from 1 to {options.samples}, each once, got {options.k}")
    return options


def read_baseline(path, digest, harness):
    """Return an earlier report; ScenarioError when it is none, or is not of this suite and number of samples."""
    place, report = f"--baseline: {path}", read_json(path)
    require(place, report, "schema_version", integer(1, 1))
    require(place, report, "suite_sha256", A_STRING)
    most = require(place, report, "samples", integer(1, sys.maxsize))
    for task in require(place, report, "tasks", A_LIST):
        require(f"{place}: tasks", task, "task_id", A_TEXT)
        require(f"{place}: tasks", task, "passes", integer(0, most))
    names = [task["task_id"] for task in report["tasks"]]
    if len(set(names)) < len(names):
        raise ScenarioError(f"{place}: tasks: a task is there twice: {show(sorted(names, key=names.count)[-1])}")
    ours = [{"task_id": task.id, "passes": 0} for task in harness.tasks]
    try:
        compare(report, {"suite_sha256": digest, "samples": harness.samples, "tasks": ours})
    except ScenarioError as error:
        raise ScenarioError(f"{place}: {error}") from error
    return report


def call_each(tasks, baseline):
    """Call each function to write that this run needs: one that is not written yet says so before any agent starts."""
    claim = {"success_self_reported": True, "cost_units": 0.0}
    if any(task.verifier["name"] == "shell_exit_zero" for task in tasks):
        shell_exit_zero({}, {"argv": ["true"], "timeout_seconds": 1}, {}, lambda *_: (0, ""))
    lay_over({}, {}, ())
    sample = run_sample(lambda: claim, lambda: (True, ""), lambda: 0.0)
    pass_at_k(1, 1, 1)
    summarize([sample], (1,))
    if baseline:
        compare(*2 * [{"suite_sha256": "", "samples": 1, "tasks": []}])


class Screen:
    """stderr: one line per sample, and on a terminal how far the run is."""

    def __init__(self, total):
        self.total, self.done = total, 0
        self.moves = sys.stderr is not None and sys.stderr.isatty()
        self.show_progress()

    def show_progress(self):
        if self.moves:
            sys.stderr.write(f"{self.done} of {self.total} samples ..." if self.done < self.total else "")
            sys.stderr.flush()

    def sample(self, task, number, samples, sample, said):
        if self.moves:
            sys.stderr.write("\r" + " " * 40 + "\r")
        for line in said.splitlines():
            say(f"    {line}")
        say(f"{task.id} {number}/{samples}: {sample['status']}: {sample['detail']}")
        self.done += 1
        self.show_progress()


def say(text):
    """Print one line on stderr, if there is one."""
    if sys.stderr is not None:
        print(printable(text), file=sys.stderr, flush=True)


def write_whole(path, text):
    """Write a file whole or not at all; what is not a file, such as /dev/stdout, is written to directly."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        return
    path = os.path.realpath(path)
    descriptor, part = tempfile.mkstemp(prefix=".eval-", dir=os.path.dirname(path))
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def deliver(report, out):
    """Print the report, and write it to the file out if one is named; return what went wrong, as lines."""
    text, faults = json.dumps(report, indent=2) + "\n", []
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(text, end="", flush=True)
    except OSError as error:
        faults.append(f"stdout: {error.strerror}")
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in its buffer goes there
    try:
        if out is not None:
            write_whole(out, text)
    except OSError as error:
        faults.append(f"--out: {out}: {error.strerror}")
    return faults


def run(argv):
    """Measure the candidate that the command line names, print the report, and return the exit code."""
    options = options_of(argv)
    tasks = load_suite(options.scenario)
    harness = EvalHarness(tasks, options.samples, options.k, jobs=options.jobs)
    known = {"noop": noop, "reference": apply_known_fixes(tasks)}
    candidate = known.get(options.candidate) or CommandAgent(options.candidate, options.timeout, harness.programs)
    call_each(tasks, options.baseline)
    baseline = read_baseline(options.baseline, suite_digest(tasks), harness) if options.baseline is not None else None
    screen = Screen(len(tasks) * options.samples)
    on_sample = lambda task, number, *rest: screen.sample(task, number, options.samples, *rest)
    report = harness.run(candidate, on_sample).to_dict()
    totals = report["totals"]
    counts = f"passes={totals['passes']}/{totals['samples']} errors={totals['errors']}"
    say(f"pass@1={totals['pass_at_1']} {counts} min_pass={options.min_pass}")
    regressed = compare(baseline, report)["regressed"] if baseline else []
    for task_id in regressed:
        say(f"regressed: {task_id}")
    faults = deliver(report, options.out)
    for fault in faults:
        say(f"eval_harness.py: {fault}")
    if faults:
        return 2
    return 1 if regressed or totals["pass_at_1"] < options.min_pass else 0


@contextlib.contextmanager
def interruptible():
    """Make SIGTERM, and the end of the terminal, what Ctrl-C is; a second one does not disturb the clearing up."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    meant = [number for number in numbers if before[number] not in (None, signal.SIG_IGN)]
    if threading.current_thread() is not threading.main_thread():
        meant = []

    def interrupt(number, frame):
        for other in meant:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in meant:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in meant:
            signal.signal(number, before[number])


def main(argv=None):
    """Run the command line (argv: list of str, default sys.argv[1:]) and return the exit code.

    0: measured, and --min-pass is reached; 1: it is not, or a task regressed; 2: the command line, the suite or
    the baseline is wrong, a function is not written yet, or the report cannot be written, with one line on
    stderr that says so; 130: interrupted.
    """
    try:
        with interruptible():
            return exit_code("eval_harness.py", run, argv)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
