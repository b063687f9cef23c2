"""The near end of the line: gives tests a stand-in for a submission that runs in a worker process.

A test imports the lab and calls it as ever. Here each call becomes a JSON line to the worker (worker.py, the
far end), and what comes back is untrusted input: it is bounded, parsed and checked, and no line of the
submission runs in this process. Use, one session at a time in a process:

    with Session(Path("starter/ticket_triage.py")) as session:
        sys.modules["ticket_triage"] = StandIn("ticket_triage", session)
"""

import builtins
import collections
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

from grader.line.errors import error_classes, raised_error
from grader.line.processes import Line, children, end_process, guard_this_process, remove_folder, running_lines
from grader.intake.sources import MAIN_LAB, Lost, lab_of, read_sources
from grader.line.worker import MESSAGE_LIMIT, NAMES_LIMIT, OUTPUT_LIMIT, Malformed, decode, encode, run_main

WORKER = Path(__file__).with_name("worker.py").read_bytes()
BOOT = "import io;exec(io.BufferedReader(io.FileIO(0,closefd=False),1).read({}))"  # reads no byte too many
KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
NOT_STARTED = "the worker did not start"  # the beginning of a reason that is no fault of the submission's
START_LIMIT = 60.0  # seconds for an interpreter to start, wherever --exec puts it; the submission's time begins after that
CALL_KINDS = {"returned", "raised", "ask", "next"}  # of the lines that may answer a call
TOTAL_LIMIT = 16 * MESSAGE_LIMIT  # characters that a worker may send in one test


class Limits:
    """What a submission may use: seconds for each test, memory in MiB; exec and python say where it runs."""

    def __init__(self, seconds=5.0, memory=512, prefix="", python=None):
        self.seconds, self.memory = seconds, memory
        self.prefix = shlex.split(prefix)
        self.python = python or ("python3" if self.prefix else sys.executable)

    def as_dict(self):
        """Return what a verdict can depend on; python is left out where it is the grader's own."""
        return {"seconds": self.seconds, "memory": self.memory, "exec": self.prefix, "python": Path(self.python).name}

    def command(self, size):
        """Return the command line of a worker whose source has size bytes. ssh gives its words to a shell: quoted."""
        words = [self.python, "-I", "-S", "-B", "-c", BOOT.format(size)]
        if any(Path(word).stem == "ssh" for word in self.prefix):
            words = [shlex.quote(word) for word in words]
        return self.prefix + words


def kept_variables():
    """Return the environment variables of a worker on this machine, but for its folder."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "MALLOC_ARENA_MAX": "2"}  # glibc would reserve 64 MiB of the memory for each thread


def own_folder(folder):
    """Return the environment variables that send a worker to its own folder."""
    return dict.fromkeys(("TMPDIR", "TEMP", "TMP", "HOME"), folder)


def folder_prefix(owner):
    """Return how the names of workers' folders begin; owner is the number of a process."""
    return f"worker-{owner}-"


def use_template(limits):
    """Let the workers of this process be copies of one, where the system can: it is quicker when they are many."""
    from grader.line.template import template_for  # not by all: to import it takes time

    Session.template = template_for(limits, kept_variables())


# ---- the session


class Session:
    """One submission under grading: starts workers, sends calls, answers callbacks, keeps the limits."""

    current = None  # the session that is open in this process
    template = None  # what its workers are copies of, or None: each is started
    owner = None  # the number of the process that clears up when this one is killed

    def __init__(self, path, limits=None, lab=None):
        self.path, self.limits = Path(path), limits or Limits()
        self.lab = lab or lab_of(self.path) or MAIN_LAB
        self.sources, self.load_failure = {}, None
        self.process = self.line = self.folder = self.stderr = None
        self.loaded = self.once_loaded = self.busy = False
        self.attributes, self.errors, self.described, self.values = {}, {}, {}, set()
        self.ahead = collections.deque()  # the calls that the worker has got and whose lines are not read yet
        self.begin()

    def __enter__(self):
        """Start a worker, which has nothing of the submission yet: that comes when all is imported that judges it."""
        Session.current = self
        try:
            self.sources = read_sources(self.path, self.lab)
            self.files = {f"{name}.py" for name in self.sources}
            self.spawn()
            guard_this_process()
        except Lost as error:
            self.load_failure = error
        return self

    def __exit__(self, *_):
        Session.current = None
        self.end()

    def begin(self):
        """Start the time of one test; its calls share it."""
        self.forget_ahead()
        self.printed, self.kept, self.received, self.lost = [], 0, 0, None
        self.left = self.limits.seconds  # of this test, when a worker is there
        self.allow(self.left)

    def allow(self, seconds, reason=None):
        """From now on, until the next time, the worker has that many seconds; past them the test fails for that reason."""
        self.deadline = time.monotonic() + seconds
        self.late = reason or f"it ran longer than {self.limits.seconds:g} s"

    def end(self):
        """End the worker and all that it left, and remove its folder."""
        process, self.process, self.loaded = self.process, None, False
        self.ahead.clear()
        if process is not None:
            try:
                process.stdin.close()  # a worker on another machine ends when the line does
            except OSError:  # what was not yet written is of no use any more
                pass
            end_process(process, self.before, bool(self.limits.prefix))
            process.stdout.close()
        if self.stderr is not None:
            self.stderr.close()
        if self.folder is not None:
            remove_folder(self.folder)
            self.folder = None

    def fail(self, reason, place=None):
        """End the worker and fail the running test: every further call in it gives the same reason."""
        self.end()
        self.lost = reason
        lost = Lost(reason)
        lost.place = place
        raise lost

    def fail_late(self):
        """Fail because the time is up, and tell in which line of the submission it was."""
        lines = [] if self.limits.prefix else running_lines(self.process, self.stderr)
        self.fail(self.late, next((line for line in lines if line[0] in self.files), None))

    def spawn(self):
        """Start a worker and send it its own source; Lost says why it does not start."""
        self.folder = tempfile.mkdtemp(prefix=folder_prefix(self.owner or os.getpid()))
        self.stderr = tempfile.TemporaryFile()
        self.process = self.copy_template()
        started = self.process is None
        if started:
            self.process = self.start_process()
        self.before = children() - {self.process.pid}
        self.line = Line(self.process)
        if started:
            self.write(WORKER)

    def copy_template(self):
        """Return a copy of the template, or None where there is none or it fails."""
        if self.template is None or self.template.command != self.limits.command(0):
            return None
        try:
            return self.template.copy(self.folder, own_folder(self.folder), self.stderr.fileno())
        except OSError:
            self.template.end()
            Session.template = None
            return None

    def start_process(self):
        """Start an interpreter, where --exec says; Lost when it cannot be started."""
        environment = dict(os.environ)
        if not self.limits.prefix:
            environment = {**kept_variables(), **own_folder(self.folder)}
        command = self.limits.command(len(WORKER))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.stderr, "bufsize": 0}
        try:
            return subprocess.Popen(command, cwd=self.folder, env=environment, start_new_session=os.name != "nt", **pipes)
        except OSError as error:
            self.fail(f"{NOT_STARTED}: {command[0]}: {error.strerror}")

    def ready(self):
        """Have a worker with the submission loaded; Lost with the reason where there can be none."""
        if self.loaded:
            return
        if self.lost is not None:
            raise Lost(self.lost)
        if self.load_failure is not None:
            raise self.load_failure.with_traceback(None)
        try:
            if self.process is None:
                self.spawn()
            self.load()
        except Lost as error:
            self.end()
            if not self.once_loaded:  # the next test need not wait for the same
                self.load_failure = error
            raise
        self.loaded = self.once_loaded = True
        self.allow(self.left)  # starting and loading took none of the test's time

    def load(self):
        """Send the submission and wait until it is loaded; Lost says why it does not load."""
        self.allow(START_LIMIT, f"its process did not start within {START_LIMIT:g} s")
        self.receive({"ready"})
        self.allow(self.limits.seconds, f"it did not load within {self.limits.seconds:g} s")
        seconds = int(self.limits.seconds + 2) * 20  # of the processor: for all tests, and the last resort when this process dies
        what = {"module": self.lab, "sources": self.sources, "memory": self.limits.memory, "seconds": seconds}
        loaded = self.exchange(ENCODER.encode({"kind": "load", **what}), {"loaded", "raised"})
        try:
            if loaded["kind"] == "raised":
                error = raised_error(loaded, {}, [], self.files)
                lost = Lost(f"it does not load: {type(error).__name__}{': ' if str(error) else ''}{error}")
                lost.place = error.place
                raise lost
            functions, values = loaded.get("functions"), loaded.get("values")
            for names in (functions, values):
                if type(names) is not list or len(names) > NAMES_LIMIT or any(type(name) is not str for name in names):
                    raise Malformed("the module's names")
            if loaded.get("errors") != self.described:  # else a test may hold the classes of an earlier worker
                self.errors, self.described = error_classes(loaded.get("errors")), loaded.get("errors")
        except Malformed as fault:
            self.malformed(fault)
        self.values = set(values)
        self.attributes = {**self.errors, **{name: self.function(name) for name in functions}}

    def attribute(self, name):
        """Return what the module has under a name: a function or an exception of this side, or a value."""
        if not self.loaded:
            self.ready()
        if name in self.values:
            return self.request(ENCODER.encode({"kind": "value", "name": name}))
        if name not in self.attributes:
            raise Lost(f"{self.path.name} has no {name}")
        return self.attributes[name]

    def function(self, name):
        def stand_in(*args, **kwargs):
            given = []
            text = call_text(name, args, kwargs, numbering(given))
            before = len(self.printed)
            try:
                return self.request(text, given)
            finally:
                stand_in.printed = self.printed[before:]  # what the submission printed during this call

        stand_in.__name__ = stand_in.__qualname__ = name
        stand_in.ahead = self.send_ahead
        return stand_in

    def send_ahead(self, calls):
        """Send calls that come next (functools.partial): to cross the line together is quicker than one by one."""
        self.refuse_inside_callback()
        self.forget_ahead()
        self.ready()
        self.ahead.extend(call_text(call.func.__name__, call.args, call.keywords, numbering([])) for call in calls)
        self.send(ENCODER.encode({"kind": "calls", "lines": list(self.ahead)}))

    def forget_ahead(self):
        """When calls were sent ahead and then not made, go on with a new worker, which has what is left of the time.

        The old one is in the middle of them, and may be asking for what was given with them.
        """
        if self.ahead:
            self.left = self.deadline - time.monotonic()
            self.end()

    def refuse_inside_callback(self):
        if self.busy:
            raise RuntimeError("a function of the lab was called inside a callback: its worker waits for an answer")

    def run_main(self, argv, files, encoding):
        value = self.request(ENCODER.encode({"kind": "main", "argv": argv, "files": files, "encoding": encoding}))
        if not (type(value) is tuple and len(value) == 3 and list(map(type, value[1:])) == [str, str]):
            self.malformed("main's result")
        return value

    def request(self, text, given=()):
        """Send a call; answer what the worker asks for; return or raise what comes in the end."""
        self.refuse_inside_callback()
        if self.ahead and self.ahead[0] != text:
            self.forget_ahead()
        self.ready()
        foreign = []
        self.busy = True
        try:
            if self.ahead:
                self.ahead.popleft()
                reply = self.receive(CALL_KINDS)
            else:
                reply = self.exchange(text, CALL_KINDS)
            while reply["kind"] in ("ask", "next"):
                reply = self.exchange(ENCODER.encode(self.answer(reply, given, foreign)), CALL_KINDS)
            if reply["kind"] == "returned":
                return decode(reply.get("value"))
            error = raised_error(reply, self.errors, foreign, self.files)
        except Malformed as fault:
            self.malformed(fault)
        except BaseException:  # Ctrl-C, or what a callback of the tests raises: the worker is left in the middle of a call
            self.end()
            raise
        finally:
            self.busy = False
        raise error

    def answer(self, asked, given, foreign):
        """Call the callable (or iterator) that the worker asks for; return the line with what it gave."""
        number, args, kwargs = asked.get("number"), decode(asked.get("args")), decode(asked.get("kwargs"))
        if type(number) is not int or not 0 <= number < len(given):
            raise Malformed("it asks for a function that it was not given")
        if type(args) is not list or type(kwargs) is not dict or any(type(name) is not str for name in kwargs):
            raise Malformed("it asks with arguments that are none")
        function, is_next = given[number], asked["kind"] == "next"
        if is_next is not hasattr(type(function), "__next__"):
            raise Malformed("it takes a function for an iterator")
        try:
            value = next(function) if is_next else function(*args, **kwargs)
        except Lost:
            raise
        except Exception as error:
            if is_next and isinstance(error, StopIteration):
                return {"kind": "end"}
            foreign.append(error)
            builtin = next(kind.__name__ for kind in type(error).__mro__ if vars(builtins).get(kind.__name__) is kind)
            described = {"class": type(error).__name__, "builtin": builtin, "args": encode(list(error.args), lambda _: None)}
            return {"kind": "failure", "number": len(foreign) - 1, **described}
        return {"kind": "answer", "value": encode(value, numbering(given))}

    def exchange(self, text, kinds):
        """Send one line and return the next one from the worker, which must be of one of these kinds."""
        self.send(text)
        return self.receive(kinds)

    def send(self, text):
        """Send one line, at a time when the worker has none to send."""
        if self.line.lines or self.line.rest:
            self.malformed("a line before it was asked")
        self.write(text.encode("ascii") + b"\n")

    def write(self, data):
        try:
            self.line.write(data, self.deadline)
        except TimeoutError:
            self.fail_late()
        except (OSError, EOFError):
            self.gone()

    def receive(self, kinds):
        """Return the next line from the worker as a dict; the test fails when it is not what is due now."""
        try:
            line = self.line.read(self.deadline)
            self.received += len(line)
            if self.received > TOTAL_LIMIT:
                raise Malformed(f"more than {TOTAL_LIMIT:,} characters in one test")
            reply = parse(line, kinds)
        except TimeoutError:
            self.fail_late()
        except (OSError, EOFError):
            self.gone()
        except Malformed as fault:
            self.malformed(fault)
        if "printed" in reply:
            self.keep(*reply["printed"])
        return reply

    def keep(self, text, dropped):
        """Keep what the submission printed, up to a limit for each test."""
        room = OUTPUT_LIMIT - self.kept
        if text or dropped:
            self.printed.append([text[:room], dropped + len(text[room:])])
            self.kept += len(text[:room])

    def malformed(self, fault):
        self.fail(f"its process sent what the protocol does not allow: {str(fault)[:160]}")

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


def call_text(name, args, kwargs, number_of):
    """Return the line of a call."""
    return ENCODER.encode({"kind": "call", "name": name, "args": encode(list(args), number_of), "kwargs": encode(kwargs, number_of)})


def numbering(given):
    """Return the function that encode asks for the number of a callable: its place in `given`, where it is kept."""

    def number_of(value):
        given.append(value)
        return len(given) - 1

    return number_of


# ---- what comes in is text from a stranger: guard, guard, return


def small_int(digits):
    """Return the integer; encode writes longer ones in another way."""
    if len(digits) > 20:
        raise Malformed("an integer with too many digits")
    return int(digits)


def no_key_twice(pairs):
    record = dict(pairs)
    if len(record) != len(pairs):
        raise Malformed("a key is given twice")
    return record


def no_constant(name):
    raise Malformed(f"{name} is no JSON")


ENCODER = json.JSONEncoder(check_circular=False)  # encode has bounded the depth
DECODER = json.JSONDecoder(object_pairs_hook=no_key_twice, parse_int=small_int, parse_constant=no_constant)


def parse(line, kinds):
    """Return a line from the worker as a dict whose kind is one of kinds; Malformed for all else."""
    try:
        reply, end = DECODER.raw_decode(line.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{ascii(line[:60].decode('latin-1'))}: {error}") from error
    if end != len(line):
        raise Malformed("more than one JSON value in a line")
    if type(reply) is not dict or type(reply.get("kind")) is not str or reply["kind"] not in kinds:
        raise Malformed("a line of another kind than is due now")
    if "printed" in reply:
        printed = reply["printed"]
        if type(printed) is not list or list(map(type, printed)) != [str, int] or printed[1] < 0:
            raise Malformed("what it printed")
    return reply


class StandIn(types.ModuleType):
    """The module that tests import as the lab: what it holds is looked up in its session."""

    def __init__(self, name, session=None):
        super().__init__(name)
        self.__session__ = session

    def __getattr__(self, name):
        session = self.__dict__["__session__"]
        if name.startswith("__") or session is None:
            raise AttributeError(name)
        return session.attribute(name)


def command_line(lab, argv, files, encoding):
    """Run the lab's main(argv) in a temporary folder that holds files; return (exit code, stdout, stderr)."""
    if isinstance(lab, StandIn):
        return lab.__session__.run_main(argv, files, encoding)
    with tempfile.TemporaryDirectory() as folder:
        return run_main(lab, argv, files, encoding, folder)
