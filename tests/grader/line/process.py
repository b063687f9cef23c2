"""The processes that run submissions: where and how they are made, and how one begins and ends."""

import importlib.util
import marshal
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.line.channel import channel_to
from grader.line.errors import Lost
from grader.line.processes import children, end_process, remove_folder, running_lines

BOOT = (  # it reads no byte too many
    "import io,marshal;P=marshal.loads(io.BufferedReader(io.FileIO(0,closefd=False),1).read({}));exec(P[0])"
)
UNPACK = """
import sys, types
_, kept_out, parts = P
for name, code in parts:
    module = sys.modules[name] = types.ModuleType(name)
    exec(code, vars(module))
sys.modules["grader.line.worker"].start(module.close_in(kept_out))
"""  # each part becomes a module, so that those behind it can import it; the last one closes the process in
FAR_END = ("grader.line.protocol", "grader.line.program", "grader.line.worker")  # the modules that make up a worker
TEXT_VERSION = 4  # of marshal: every Python reads texts that it has written so
KIT = Path(__file__).resolve().parents[3]
KEPT_OUT = [
    str(KIT / room) for room in ("solution", "starter", "scenario", "tests")
]  # from workers, wherever the kit lies
KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
NOT_STARTED = "the worker did not start"  # the beginning of a reason that is not a fault of the submission's
SAID_LIMIT = 2000  # bytes of what a worker leaves on stderr
CLOSED_LIMIT = 1.0  # seconds for a worker that has closed the line to end


def packed(kept_out, names, compiled):
    """Return what BOOT unpacks: modules, compiled as the import system keeps them, or as texts for another Python."""
    loaders = {name: importlib.util.find_spec(name).loader for name in names}
    parts = [(name, each.get_code(name) if compiled else each.get_source(name)) for name, each in loaders.items()]
    return marshal.dumps([UNPACK, kept_out, parts], marshal.version if compiled else TEXT_VERSION)


class Limits:
    """What a submission may use: seconds for each test, memory in MiB; exec and python say where it runs.

    seed is the grader's alone: it renames the data of the tests, and no worker learns it. sandbox: whether a worker
    closes itself in (see sandbox.py), which it can on this machine only, and on Linux.
    """

    def __init__(self, seconds=5.0, memory=512, prefix="", python=None, seed=0, sandbox=True):
        self.seconds, self.memory, self.seed = seconds, memory, seed
        self.sandbox = sandbox
        self.prefix = shlex.split(prefix)  # the words that stand before the interpreter
        self.python = python or ("python3" if self.prefix else own_python())

    def as_dict(self):
        """Return what a verdict can depend on; python is left out where it is the grader's own."""
        return {"seconds": self.seconds, "memory": self.memory, "exec": self.prefix, "python": Path(self.python).name}

    def why_open(self):
        """Return why a worker does not close itself in, or "" where it does so as far as the kernel can."""
        if not self.sandbox:
            return "--no-sandbox"
        if self.prefix:
            return "--exec says where they run"
        return "" if sys.platform == "linux" else "this needs Linux"

    def source(self, *more):
        """Return the source of a worker as bytes. more: modules that come behind its own."""
        kept_out = None if self.why_open() else KEPT_OUT
        names = [*(["grader.line.sandbox"] if kept_out is not None else []), *FAR_END, *more]
        return packed(kept_out, names, compiled=not self.prefix and self.python == own_python())

    def command(self, size):
        """Return the command line of a worker whose source has size bytes. ssh gives its words to a shell: quoted."""
        words = [self.python, "-I", "-S", "-B", "-c", BOOT.format(size)]
        if any(Path(word).stem == "ssh" for word in self.prefix):
            words = [shlex.quote(word) for word in words]
        return self.prefix + words


def own_python():
    """Return the path of this interpreter; on Windows not a virtual environment's, which only starts another one."""
    return sys.executable if os.name != "nt" else getattr(sys, "_base_executable", sys.executable)


def kept_variables():
    """Return the environment variables of a worker on this machine, but for its folder."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "MALLOC_ARENA_MAX": "2"}  # glibc would reserve 64 MiB of the memory for each thread


def own_folder(folder):
    """Return the environment variables that send a worker to its own folder."""
    return dict.fromkeys(("TMPDIR", "TEMP", "TMP", "HOME", *(["USERPROFILE"] if os.name == "nt" else [])), folder)


def own_session(elsewhere):
    """Return the options of Popen by which Ctrl-C in a terminal does not reach a worker, nor a worker the terminal."""
    if os.name != "nt":
        return {"start_new_session": True}
    if elsewhere:  # a client such as ssh may have to ask for a password
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"creationflags": subprocess.CREATE_NO_WINDOW}


def folder_prefix(owner):
    """Return how the names of workers' folders begin; owner is the number of a process."""
    return f"worker-{owner}-"


class Workers:
    """Where and how the workers of this process are made."""

    def __init__(self, limits=None, owner=None):
        """owner: the number of the process that clears up when this one is killed; None: there is none."""
        self.limits = limits or Limits()
        self.owner = owner or os.getpid()
        self.source = self.limits.source()
        self.template = None  # a Template that workers are copies of; without one each is started
        self.running = None  # the WorkerProcess that was made last

    def use_template(self):
        """Make workers by copying one from now on, where the system can: it is quicker when they are many."""
        from grader.line.template import template_for  # not by all: to import it takes time

        self.template = template_for(self.limits, kept_variables())

    def drop_template(self):
        if self.template is not None:
            self.template.end()
            self.template = None

    def start(self):
        """Return a new WorkerProcess; Lost says why it does not start."""
        self.running = WorkerProcess(self)
        return self.running

    def end(self):
        """End the worker that runs, if there is one, and the template."""
        if self.running is not None:
            self.running.end()
        self.drop_template()


class WorkerProcess:
    """A worker with its folder and its line: a new interpreter, where --exec says, or a copy of the template."""

    def __init__(self, workers):
        self.limits = workers.limits
        self.folder = tempfile.mkdtemp(prefix=folder_prefix(workers.owner))
        self.stderr = tempfile.TemporaryFile()  # what the interpreter says before and after the submission
        self.to_send = b""  # the source that it waits for
        self.process = None  # a Popen or a Copy
        self.before = set()  # numbers of the processes that were this one's children before
        self.job = None  # Windows: what holds it and all that it starts
        self.channel = None
        try:
            self.process = self.copy(workers) or self.spawn(workers)
        except OSError as error:
            self.end()
            raise Lost(f"{NOT_STARTED}: {self.limits.command(0)[0]}: {error.strerror}") from error
        self.before = set(children()) - {self.process.pid}
        self.channel = channel_to(self.process)
        if self.to_send:  # now: it gets ready while the tests are imported here
            self.to_send = self.channel.write_at_once(self.to_send)

    def copy(self, workers):
        """Return a copy of the template, or None where there is none or it fails."""
        if workers.template is None or workers.template.command != self.limits.command(0):
            return None
        try:
            return workers.template.copy(self.folder, own_folder(self.folder), self.stderr.fileno())
        except OSError:
            workers.drop_template()
            return None

    def spawn(self, workers):
        """Return an interpreter that waits for the source of a worker."""
        self.to_send = workers.source
        environment = dict(os.environ)
        if not self.limits.prefix:
            environment = {**kept_variables(), **own_folder(self.folder)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.stderr, "bufsize": 0}
        options = {"cwd": self.folder, "env": environment, **own_session(bool(self.limits.prefix))}
        process = subprocess.Popen(self.limits.command(len(self.to_send)), **options, **pipes)
        if os.name == "nt":
            from grader.line.job import job_of

            self.job = job_of(process, None if self.limits.prefix else self.limits.memory)  # it waits for its source
        return process

    def end(self):
        """End the worker and all that it left, and remove its folder. It may have ended before."""
        process, self.process = self.process, None
        if process is not None:
            self.channel.close_input()  # a worker on another machine ends when the line does
            end_process(process, self.before, bool(self.limits.prefix), self.job)
            self.channel.close_output()
        self.stderr.close()
        if self.folder is not None:
            remove_folder(self.folder)
            self.folder = None

    def how_it_ended(self):
        """Return how the process has ended and what it left on stderr, as a text."""
        try:
            code = self.process.wait(timeout=CLOSED_LIMIT)
        except subprocess.TimeoutExpired:
            return "its process closed the line to the grader"
        self.stderr.seek(0)
        said = self.stderr.read(SAID_LIMIT).decode("utf-8", "replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"its process ended by itself ({how})" + (f": {said[-1]}" if said else "")

    def running_place(self, files):
        """Return (file, line number) of what is running in one of these files, innermost first, or None."""
        lines = [] if self.limits.prefix else running_lines(self.process, self.stderr)
        return next((line for line in lines if line[0] in files), None)
