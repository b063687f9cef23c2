"""The near end of the line: gives tests a stand-in for a submission that runs in a worker process.

A test imports the lab and calls it as ever. Here each call becomes a JSON line to the worker (worker.py, the
far end), and what comes back is untrusted input: it is bounded, parsed and checked, and no line of the
submission runs in this process. Use:

    with Session(Path("starter/ticket_triage.py")) as session:
        sys.modules["ticket_triage"] = StandIn("ticket_triage", session)
"""

import builtins
import importlib.util
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from pathlib import Path

from worker import MESSAGE_LIMIT, Malformed, decode, encode, run_main

WORKER = Path(__file__).with_name("worker.py")
BOOT = "import io;exec(io.BufferedReader(io.FileIO(0,closefd=False),1).read({}))"  # reads no byte too many
KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
MODULE_NAMES = set(getattr(sys, "stdlib_module_names", ())) | set(sys.builtin_module_names)


class Lost(Exception):
    """The submission gave no verdict: it did not load, its process ended, or it ran past a limit."""


class Limits:
    """What a submission may use: seconds for each test, memory in MiB; exec and python say where it runs."""

    def __init__(self, seconds=5.0, memory=512, prefix="", python=None):
        self.seconds, self.memory = seconds, memory
        self.prefix = shlex.split(prefix)
        self.python = python or ("python3" if self.prefix else sys.executable)

    def command(self, size):
        """Return the command line of a worker whose source has size bytes. ssh gives its words to a shell: quoted."""
        words = [self.python, "-I", "-S", "-B", "-c", BOOT.format(size)]
        if self.prefix and Path(self.prefix[0]).stem == "ssh":
            words = [shlex.quote(word) for word in words]
        return self.prefix + words


# ---- processes: what differs between systems stands here


def adopt_orphans():
    """Linux: let processes whose parent ends become this one's children, so that none gets lost. Else: nothing."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def children():
    """Linux: return the numbers of this process's children. Else: none are known."""
    found = set()
    if sys.platform == "linux":
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    stat = Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace")
                except OSError:  # it ended in the meantime
                    continue
                if int(stat.rpartition(")")[2].split()[1]) == os.getpid():
                    found.add(int(entry))
    return found


def end_process(process, before):
    """End the worker, its process group, and on Linux every process that it left behind."""
    if os.name == "nt":
        if process.poll() is None:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
        process.wait()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # all have ended
        pass
    process.wait()
    left = children() - before
    while left:
        for number in left:
            try:
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)
            except (ProcessLookupError, ChildProcessError):  # it ended, or another thread's child
                pass
        left = children() - before - left


class Line:
    """The pipes to a worker. Reading and writing end at a deadline, whoever holds the other end."""

    def __init__(self, process):
        self.process, self.buffer = process, bytearray()
        self.output, self.input = process.stdout.fileno(), process.stdin.fileno()
        if os.name != "nt":
            os.set_blocking(self.input, False)

    def wait(self, reading, deadline):
        """Wait until there is something to read, or room to write; TimeoutError past the deadline."""
        import select

        pair = ([self.output], []) if reading else ([], [self.input])
        if not any(select.select(*pair, [], max(0.0, deadline - time.monotonic()))):
            raise TimeoutError

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
                self.wait(False, deadline)

    def read(self, deadline):
        """Return the next line without its end, b"" when the worker is gone; Malformed when it is too long."""
        while True:
            end = self.buffer.find(b"\n")
            if end >= 0:
                line = bytes(self.buffer[:end])
                del self.buffer[: end + 1]
                return line
            if len(self.buffer) > MESSAGE_LIMIT:
                raise Malformed(f"a line of more than {MESSAGE_LIMIT:,} characters")
            if os.name == "nt":
                with Watchdog(self.process, deadline):
                    part = os.read(self.output, 1 << 16)
            else:
                self.wait(True, deadline)
                part = os.read(self.output, 1 << 16)
            if not part:
                return b""
            self.buffer += part


class Watchdog:
    """Windows: pipes cannot be waited for there, so the worker is ended at the deadline, which ends the wait."""

    def __init__(self, process, deadline):
        self.late = False
        self.timer = threading.Timer(max(0.0, deadline - time.monotonic()), self.bark, [process])

    def bark(self, process):
        self.late = True
        process.kill()

    def __enter__(self):
        self.timer.start()

    def __exit__(self, kind, error, trace):
        self.timer.cancel()
        self.timer.join()
        if self.late:
            raise TimeoutError


# ---- the submission's files


def read_sources(path):
    """Return {module name: text} of the submission and, when it has its usual name, of the files beside it.

    Lost says why a file cannot be read: it is none, or its text is not in its encoding.
    """
    lab = module_name(path)
    sources = {lab: read_source(path)}
    if path.name == f"{lab}.py":
        for sibling in sorted(path.parent.glob("*.py")):
            if sibling.stem.isidentifier() and sibling.stem not in MODULE_NAMES and sibling != path:
                sources[sibling.stem] = read_source(sibling)
    return sources


def module_name(path):
    """Return the lab that a file is a submission of: anna_lee_123_ticket_triage.py is one of ticket_triage."""
    labs = [test.stem[len("test_") :] for test in Path(__file__).parent.glob("test_*.py")]
    matching = [lab for lab in labs if path.stem == lab or path.stem.endswith(f"_{lab}")]
    return max(matching, key=len, default="ticket_triage")


def read_source(path):
    try:
        return importlib.util.decode_source(path.read_bytes())
    except OSError as error:
        raise Lost(f"{path.name} cannot be read: {error.strerror}") from error
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Lost(f"{path.name} is not UTF-8 text: {error}. Save it as UTF-8.") from error


# ---- exceptions


class SubmissionError(Exception):
    """An exception of the submission's: its class by name, its message, and its own lines [(file, line number)]."""

    lines = ()


def raised_error(described, errors, foreign):
    """Return the exception to raise here for one that the worker describes; Malformed when it does so wrongly."""
    fields = {"class": str, "message": str, "lab": list, "lines": list, "builtin": str}
    if type(described) is not dict or any(type(described.get(field)) is not kind for field, kind in fields.items()):
        raise Malformed("an exception is not described as it should be")
    if described.get("same") is not None:
        if type(described["same"]) is not int or not 0 <= described["same"] < len(foreign):
            raise Malformed("an exception that was never raised here")
        return foreign[described["same"]]
    known = next((errors[name] for name in described["lab"] if type(name) is str and name in errors), None)
    if known is None:
        base = getattr(builtins, described["builtin"][:40], Exception)
        plain = isinstance(base, type) and issubclass(base, Exception) and base is not Exception
        known = type(described["class"][:80], (SubmissionError, base) if plain else (SubmissionError,), {})
    error = known.__new__(known)
    error.args = (described["message"],)
    error.lines = [tuple(line) for line in described["lines"] if type(line) is list and list(map(type, line)) == [str, int]]
    return error


# ---- the session


class Session:
    """One submission under grading: starts workers, sends calls, answers callbacks, keeps the limits."""

    def __init__(self, path, limits=None):
        self.path, self.limits = Path(path), limits or Limits()
        self.lab = module_name(self.path)
        self.sources, self.load_failure = {}, None
        self.process = self.loaded = self.line = self.folder = None
        self.attributes, self.errors = {}, {}
        self.printed, self.lost, self.calls = [], None, []
        self.deadline = time.monotonic() + self.limits.seconds

    def __enter__(self):
        adopt_orphans()
        try:
            self.sources = read_sources(self.path)
            self.spawn()  # it starts while the tests are imported
        except Lost as error:
            self.load_failure = error
        return self

    def __exit__(self, *_):
        self.end()

    def begin(self):
        """Start the time of one test; its calls share it."""
        self.printed, self.lost = [], None
        self.deadline = time.monotonic() + self.limits.seconds

    def end(self):
        """End the worker and all that it left, and remove its folder."""
        if self.process is not None:
            end_process(self.process, self.before)
            for stream in (self.process.stdin, self.process.stdout):
                try:
                    stream.close()
                except OSError:  # what was not yet written is of no use any more
                    pass
            self.stderr.close()
            self.process = None
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def fail(self, reason):
        """End the worker and fail the running test: every further call in it gives the same reason."""
        self.end()
        self.lost = reason
        raise Lost(reason)

    def spawn(self):
        """Start a worker and send it its own source and the submission's; Lost says why it does not start."""
        source = WORKER.read_bytes()
        self.before = children()
        self.folder = tempfile.mkdtemp(prefix="submission-")
        self.stderr = tempfile.TemporaryFile()
        environment = dict(os.environ)
        if not self.limits.prefix:
            environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
            environment.update(TMPDIR=self.folder, TEMP=self.folder, TMP=self.folder, HOME=self.folder)
        command = self.limits.command(len(source))
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
                cwd=self.folder, env=environment, bufsize=0, start_new_session=os.name != "nt",
            )
        except OSError as error:
            self.fail(f"the worker did not start: {command[0]}: {error.strerror}")
        self.line = Line(self.process)
        seconds = int(self.limits.seconds + 2) * 20  # of the processor, for all tests and some restarts
        self.send(source + to_line({"module": self.lab, "sources": self.sources, "memory": self.limits.memory, "seconds": seconds}))

    def load(self):
        """Wait until the submission is loaded; Lost says why it does not load."""
        loaded = self.receive({"loaded", "raised"})
        if loaded["kind"] == "raised":
            error = raised_error(loaded.get("error"), {}, [])
            lost = Lost(f"it does not load: {type(error).__name__}: {error}")
            lost.lines = error.lines
            raise lost
        self.describe(loaded)

    def describe(self, loaded):
        """Take from the worker which functions, exceptions and values the module has."""
        functions, errors, values = (loaded.get(name) for name in ("functions", "errors", "values"))
        if not all(type(part) is dict for part in (functions, errors, values)):
            self.malformed("what the module holds")
        self.attributes, self.errors = {}, {}
        for name in sorted(errors, key=lambda name: len(errors[name]) if type(errors[name]) is list else 0):
            bases = [self.errors[base] for base in errors[name] if base in self.errors] if type(errors[name]) is list else []
            self.errors[name] = type(name, (bases[-1] if bases else SubmissionError,), {})
        try:
            self.attributes.update({name: decode(value) for name, value in values.items()})
        except Malformed as error:
            self.malformed(error)
        self.attributes.update(self.errors)
        self.attributes.update({name: self.function(name) for name in functions})

    def ready(self):
        """Have a worker with the submission loaded; Lost with the reason where there can be none."""
        if self.lost is not None:
            raise Lost(self.lost)
        if self.load_failure is not None:
            raise self.load_failure
        if self.process is None:
            self.spawn()
        if self.loaded is not self.process:
            try:
                self.load()
            except Lost as error:
                self.end()
                if self.loaded is None:  # it never loaded, and the next test need not wait for the same
                    self.load_failure = error
                raise
            self.loaded = self.process

    def function(self, name):
        def stand_in(*args, **kwargs):
            foreign = []
            callables = []

            def number_of(value):
                callables.append(value)
                return len(callables) - 1

            encoded = {"args": encode(list(args), number_of), "kwargs": encode(kwargs, number_of)}
            return self.request({"kind": "call", "name": name, **encoded}, callables, foreign)

        stand_in.__name__ = stand_in.__qualname__ = name
        return stand_in

    def run_main(self, argv, files, encoding):
        value = self.request({"kind": "main", "argv": argv, "files": files, "encoding": encoding}, [], [])
        if not (type(value) is tuple and len(value) == 3 and list(map(type, value[1:])) == [str, str]):
            self.malformed("main's result")
        return value

    def request(self, message, callables, foreign):
        """Send a call; answer what the worker asks for; return or raise what comes in the end."""
        self.ready()
        reply = self.exchange(message, {"returned", "raised", "ask", "next"})
        while reply["kind"] in ("ask", "next"):
            reply = self.exchange(self.answer(reply, callables, foreign), {"returned", "raised", "ask", "next"})
        try:
            if reply["kind"] == "returned":
                return decode(reply.get("value"))
            error = raised_error(reply.get("error"), self.errors, foreign)
        except Malformed as fault:
            self.malformed(fault)
        raise error

    def answer(self, asked, callables, foreign):
        """Call the callable (or iterator) that the worker asks for; return the line with what it gave."""
        number = asked.get("number")
        try:
            if type(number) is not int or not 0 <= number < len(callables):
                raise Malformed("it asks for a function that it was not given")
            args, kwargs = decode(asked.get("args")), decode(asked.get("kwargs"))
            if type(args) is not list or type(kwargs) is not dict or any(type(name) is not str for name in kwargs):
                raise Malformed("it asks with arguments that are none")
        except Malformed as fault:
            self.malformed(fault)

        def number_of(value):
            callables.append(value)
            return len(callables) - 1

        try:
            value = next(callables[number]) if asked["kind"] == "next" else callables[number](*args, **kwargs)
        except StopIteration:
            return {"kind": "end"}
        except Lost:
            raise
        except Exception as error:
            foreign.append(error)
            builtin = next(kind.__name__ for kind in type(error).__mro__ if vars(builtins).get(kind.__name__) is kind)
            described = {"class": type(error).__name__, "builtin": builtin, "args": encode(list(error.args), lambda _: None)}
            return {"kind": "failure", "number": len(foreign) - 1, **described}
        return {"kind": "answer", "value": encode(value, number_of)}

    def exchange(self, message, kinds):
        """Send one line and return the next one from the worker, which must be of one of these kinds."""
        self.send(to_line(message))
        return self.receive(kinds)

    def send(self, data):
        try:
            self.line.write(data, self.deadline)
        except TimeoutError:
            self.too_long()
        except OSError:
            self.gone()

    def receive(self, kinds):
        """Return the next line from the worker as a dict; the test fails when it is not what is due now."""
        try:
            line = self.line.read(self.deadline)
        except TimeoutError:
            self.too_long()
        except OSError:
            line = b""
        except Malformed as fault:
            self.malformed(fault)
        if not line:
            self.gone()
        try:
            reply = json.loads(line, parse_int=small_int)
        except (ValueError, RecursionError) as error:
            self.malformed(error)
        if type(reply) is not dict or reply.get("kind") not in kinds or not is_printed(reply.get("printed")):
            self.malformed("a line of another kind than is due now")
        if any(reply["printed"]):
            self.printed.append(reply["printed"])
        return reply

    def too_long(self):
        self.fail(f"it ran longer than {self.limits.seconds:g} s")

    def malformed(self, fault):
        self.fail(f"its process sent what the protocol does not allow ({str(fault)[:100]})")

    def gone(self):
        """Fail because the worker has ended: say how, and what it left on stderr."""
        try:
            code = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it closed the line and lives on
            self.fail("its process closed the line to the grader")
        self.stderr.seek(0)
        said = self.stderr.read(2000).decode("utf-8", "replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self.fail(f"its process ended by itself ({how})" + (f": {said[-1]}" if said else ""))


def to_line(message):
    return json.dumps(message).encode("ascii") + b"\n"


def small_int(digits):
    """Return the integer; ValueError past 20 characters: encode writes longer ones in another way."""
    if len(digits) > 20:
        raise ValueError("an integer with too many digits")
    return int(digits)


def is_printed(value):
    return type(value) is list and list(map(type, value)) == [str, int]


class StandIn(types.ModuleType):
    """The module that tests import as the lab: what it holds is looked up in the session of the moment."""

    def __init__(self, name, session=None):
        super().__init__(name)
        self.__session__ = session

    def __getattr__(self, name):
        session = self.__dict__["__session__"]
        if name.startswith("__") or session is None:
            raise AttributeError(name)
        session.ready()
        if name not in session.attributes:
            raise Lost(f"{session.path.name} has no {name}")
        return session.attributes[name]


def command_line(lab, argv, files, encoding):
    """Run the lab's main(argv) in a temporary folder that holds files; return (exit code, stdout, stderr)."""
    if isinstance(lab, StandIn):
        return lab.__session__.run_main(argv, files, encoding)
    return run_main(lab, argv, files, encoding)
