"""The far end of the line: runs a submission in a process of its own, and answers the near end (see protocol.py).

It comes over stdin, behind sandbox.py, protocol.py and program.py (see packed in process.py), so it needs no file. The
near end trusts nothing that this end says: the submission in this process can do as it likes with it.
"""

import builtins
import faulthandler
import io
import json
import os
import signal
import sys
import types
from _thread import allocate_lock

from grader.line.program import Kept, Program, Streams
from grader.line.protocol import (
    FROM_NEAR,
    MESSAGE_LIMIT,
    NAMES_LIMIT,
    PLAIN_TYPES,
    TEXT_LIMIT,
    ANSWERS,
    TooLarge,
    encode,
    fields_of,
    line_of,
    looks_tagged,
    untag,
)

WORK = ("load", "call", "calls", "main")  # the kinds of messages that begin something
PRELOADED = ("_sitebuiltins", "argparse", "collections.abc")  # most submissions import these, or loading needs them
REACH = "a submission may read Python's own files and write in its own folder, and has no network"
FILE_LIMIT = 64 << 20  # bytes of a file that the submission writes
TELL_AFTER = 1.0  # seconds of work, after which a worker on Windows tells each time which line is running
PROCESS_LIMIT = 256  # processes and threads of the submission


# ---- the submission


class Finder:
    """Finds the submission's own files as texts. It is asked last: they cannot shadow the standard library."""

    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, origin=f"{name}.py") if name in self.sources else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        module.__file__ = f"{name}.py"
        exec(compile(self.sources[name], f"{name}.py", "exec", dont_inherit=True), module.__dict__)

    def get_source(self, name):
        return self.sources[name]


class Submission:
    """The module that is graded, and what there is to say of its exceptions. It knows nothing of the line."""

    def __init__(self, streams=None):
        self.module = None
        self.program = None  # its main, once it was run
        self.streams = streams  # its Streams
        self.files = set()  # the names of its source files, as tracebacks show them
        self.errors = {}  # {name: class} of the lab's exceptions that are as they were handed out
        # of Python itself, before the submission can change them
        self.builtins = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}
        self.far_end = []  # the modules that hold this code, once they are not in sys.modules any more
        self.foreign = {}  # {number: exception} that the grader's functions have raised in this call
        self.closed_in = []  # what for this process is closed in
        self.temporary = os.environ.get("TMPDIR")  # whatever the submission makes of it

    def load(self, module, sources, errors):
        """Run a source as a module; return the names of its functions, and of the exceptions that are as handed out.

        sources: {module: text}; errors: {name: names of its bases} of the lab's exceptions, bases first.
        """
        self.files = {f"{name}.py" for name in sources}
        self.look_started(f"{module}.py")
        sys.meta_path.append(Finder(sources))
        self.module = __import__(module)
        for name, bases in errors.items():
            kind = vars(self.module).get(name)
            if self.is_own(kind) and self.is_related(kind, bases):
                self.errors[name] = kind
        names = [name for name, value in vars(self.module).items() if type(name) is str and callable(value)]
        functions = [name for name in names if not name.startswith("_")]
        return functions[:NAMES_LIMIT], list(self.errors)

    def look_started(self, file):
        """Let this process look as one does in which Python was started with the file. The far end leaves __main__."""
        main = types.ModuleType("__main__")
        main.__file__, main.__builtins__, sys.argv = file, builtins, [file]
        own = [name for name in sys.modules if name == "__main__" or name.startswith("grader.")]
        self.far_end = list(map(sys.modules.pop, own))
        sys.modules["__main__"] = main
        site = __import__("_sitebuiltins")  # what `site` adds, which reads the file system
        builtins.exit, builtins.quit = site.Quitter("exit", "Ctrl-D"), site.Quitter("quit", "Ctrl-D")
        builtins.help, builtins.copyright = site._Helper(), site._Printer("copyright", sys.copyright)

    def is_own(self, kind):
        """Return whether the submission has made this class: else a KeyError, say, could pass for a refusal."""
        own = {file[: -len(".py")] for file in self.files}
        others = [module for name, module in list(sys.modules.items()) if name not in own]
        made_here = isinstance(kind, type) and kind.__module__ in own
        return made_here and not any(
            value is kind for module in others for value in list(getattr(module, "__dict__", {}).values())
        )

    def is_related(self, kind, bases):
        """Return whether a class has these bases, and is neither above nor below any other of the lab's exceptions."""
        bases = [self.errors.get(base) or self.builtins.get(base) for base in bases]
        allowed = [above for base in bases if base for above in type.mro(base)]
        others = [other for other in self.errors.values() if other not in allowed]
        has_bases = all(base in type.mro(kind) for base in bases)
        return has_bases and not any(other in type.mro(kind) or kind in type.mro(other) for other in others)

    def call(self, name, args, kwargs):
        return getattr(self.module, name)(*args, **kwargs)

    def main(self, argv, files, encoding):
        """Run its main as a command line; return (exit code, stdout, stderr)."""
        if self.program is None:
            self.program = Program(self.new_folder(), self.streams)
        return self.program.run(self.module, argv, files, encoding)

    def new_folder(self):
        """Return an empty folder for main. To import tempfile takes longer than all that main does."""
        if self.temporary is None:  # elsewhere the grader has made no folder
            return __import__("tempfile").mkdtemp(prefix="main-")
        folder = os.path.join(self.temporary, f"main-{os.urandom(8).hex()}")
        os.mkdir(folder, 0o700)
        return folder

    def foreign_error(self, number, name, builtin, args):
        """Return the exception that the grader's function raised, remembered by identity."""
        base = self.errors.get(name)
        if base is None:
            base = self.builtins.get(builtin, Exception)
            if base.__name__ != name:
                base = type(name, (base,), {})
        try:
            error = base.__new__(base, *args)
        except TypeError:  # this class wants to be made in another way
            error = Exception.__new__(Exception)
        error.args = tuple(args)
        self.foreign[number] = error
        return error

    def describe(self, error):
        """Return what the grader may know of an exception: the fields of `raised`, in their order."""
        try:
            message = str(error)
        except BaseException as second:
            message = f"(its message cannot be shown: str() raised {type(second).__name__})"
        place = self.place_of(error)
        if isinstance(error, SyntaxError) and error.filename in self.files:
            place = [error.filename, error.lineno]
            message = str(error.msg)
        if isinstance(error, ModuleNotFoundError):
            message += ": only the standard library, and the files beside it, can be imported"
        if isinstance(error, PermissionError) and self.closed_in:
            message += f": {REACH}"
        kinds = type.mro(type(error))
        lab = next((name for base in kinds for name, kind in self.errors.items() if kind is base), None)
        builtin = next(base.__name__ for base in kinds if base.__module__ == "builtins")
        same = next((number for number, known in self.foreign.items() if known is error), None)
        return kinds[0].__name__, lab, builtin, same, str.__str__(message)[:TEXT_LIMIT], place

    def place_of(self, error):
        """Return [file, line number] of the deepest line in a traceback that is the submission's own, or None."""
        place, trace = None, error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file in self.files:
                place = [file, trace.tb_lineno]
            trace = trace.tb_next
        return place


# ---- the line


class Worker:
    """Reads a message, does with the submission what it says, sends the answer; in between it may ask the grader."""

    def __init__(self, lines_in, lines_out, said):
        self.lines_in, self.lines_out = lines_in, lines_out
        self.said = said  # the descriptor of what the grader may read about a call that does not end
        self.kept = Kept()  # what the submission prints
        self.streams = Streams(self.kept)
        self.submission = Submission(self.streams)
        self.decoder = json.JSONDecoder(object_hook=self.value_of)
        self.process = os.getpid()
        self.lock = allocate_lock()  # threads of the submission take turns
        self.in_call = False

    def send(self, kind, *contents):
        self.streams.flush()
        printed = self.kept.take()
        line = line_of(kind, *contents, **({"printed": printed} if printed else {}))
        if len(line) > MESSAGE_LIMIT:
            raise TooLarge(f"a value of {len(line):,} bytes is too large to cross to the tests")
        if os.getpid() != self.process:
            os._exit(0)  # a child that the submission forked has come back here: the line is not its own
        self.lines_out.write(line)
        self.lines_out.flush()

    def receive(self, due):
        line = self.lines_in.readline()
        if line:
            return fields_of(line[:-1], self.decoder, FROM_NEAR, due)
        if self.submission.program is not None:
            __import__("shutil").rmtree(self.submission.program.folder, ignore_errors=True)
        os._exit(0)  # the grader is gone

    def value_of(self, record):
        """Return what an object in a line stands for. The grader sends none that is nested too deep."""
        return untag(*record.popitem(), self.made_for) if looks_tagged(record) else record

    def made_for(self, tag, content):
        """Return a type, or what asks the grader for its function or iterator."""
        if tag == "$type":
            return PLAIN_TYPES[content]
        number, name, replies = content
        if tag == "$next":
            return self.items(number)

        def stub(*args, **kwargs):
            if len(args) != 1 or kwargs:
                replies.clear()  # it may raise, and then gives another one next
            return self.ask("ask", number, encode(list(args)), encode(kwargs), known=replies)

        stub.__name__ = stub.__qualname__ = name
        return stub

    def items(self, number):
        while True:
            try:
                item = self.ask("next", number)
            except StopIteration:
                return
            yield item

    def ask(self, kind, *contents, known=None):
        """Let the grader call its function, or take an item of its iterator; return or raise what that gives.

        known: the replies that it gives next. Where there is one the grader is only told, and nobody waits.
        """
        with self.lock:
            if not self.in_call:
                raise RuntimeError("this function came with an earlier call, which is over")
            self.send("asked" if known else kind, *contents)
            if known:
                return known.pop(0)
            answer, fields = self.receive(ANSWERS[kind])
        if answer == "answer":
            return fields["value"]
        if answer == "end":
            raise StopIteration
        raise self.submission.foreign_error(*fields.values())

    def load(self, module, sources, errors, memory, seconds):
        limit_resources(memory, seconds)
        self.answer("loaded", self.submission.load, module, sources, errors)

    def call(self, name, args, kwargs):
        self.answer("returned", self.submission.call, name, args, kwargs)

    def calls(self, name, calls):
        for args, kwargs in calls:
            self.answer("returned", self.submission.call, name, args, kwargs)

    def main(self, argv, files, encoding):
        self.answer("returned", self.submission.main, argv, files, encoding)

    def answer(self, kind, work, *given):
        """Do a piece of work and send the line that answers it, of this kind if it succeeds."""
        self.submission.foreign.clear()
        self.in_call = True
        try:
            result = work(*given)
            contents = result if kind == "loaded" else (encode(result),)
        except BaseException as error:
            kind, contents = "raised", self.submission.describe(error)
        with self.lock:
            self.in_call = False
            try:
                self.send(kind, *contents)
            except TooLarge as error:
                self.send("raised", *self.submission.describe(error))

    def serve(self, closed_in):
        """Answer messages. closed_in: (what for this process is closed in, why not for the rest)."""
        self.submission.closed_in = closed_in[0]
        self.send("ready", *closed_in)
        kinds = {kind: getattr(self, kind) for kind in WORK}
        while True:
            kind, fields = self.receive(WORK)
            if not hasattr(faulthandler, "register"):  # Windows: no signal asks which line is running
                faulthandler.dump_traceback_later(TELL_AFTER, repeat=True, file=self.said)
            kinds[kind](**fields)
            if not hasattr(faulthandler, "register"):
                faulthandler.cancel_dump_traceback_later()


def close_in(kept_out):
    """Import what it may need, close this process in, and return (what for, why not for the rest)."""
    return entrance(kept_out)(os.getcwd())


def entrance(kept_out):
    """Prepare what close_in does; return the rest of it, a function of the folder in which a process works.

    kept_out: what it may not read; None for not to close in, and then sandbox.py is not here.
    """
    for name in PRELOADED:  # now, since the grader is busy anyway
        __import__(name)
    if kept_out is None:
        return lambda folder: ([], "")
    from grader.line.sandbox import enter, prepared_room

    room = prepared_room(kept_out)
    return lambda folder: enter(room, folder)


def limit_resources(memory, seconds):
    """Bound this process: memory in MiB, processor time in seconds. Windows: job.py does; macOS lacks the first."""
    try:
        import resource
    except ImportError:
        return
    amounts = {
        "RLIMIT_AS": memory << 20,
        "RLIMIT_CPU": seconds,
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": FILE_LIMIT,
        **most_processes(),
    }
    for name, amount in amounts.items():
        try:
            resource.setrlimit(getattr(resource, name), (amount, amount))
        except (AttributeError, ValueError, OSError):  # this system does not have it, or has a lower one already
            continue


def most_processes():
    """Return the limit on processes, where Linux says how many there are now; it does not bind root.

    All processes and threads of the user count for it, but it holds for this process and its children only: the user's
    own work is never refused anything.
    """
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return {"RLIMIT_NPROC": int(file.read().split()[3].partition("/")[2]) + PROCESS_LIMIT}
    except (OSError, ValueError, IndexError):
        return {}


def no_debugger(*_, **__):
    raise RuntimeError("breakpoint() works with --debug only")


def start(closed_in):
    """Move the line to private descriptors, put nothing and a bounded memory in the place of 0, 1 and 2, and serve.

    So a print, a write to descriptor 1 and a read of stdin touch nothing that the grader reads.
    """
    lines_in, lines_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    said = os.dup(2)
    if hasattr(faulthandler, "register"):  # not on Windows: at this signal, it writes which line is running
        faulthandler.register(signal.SIGUSR1, said)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a grader that ignores it hands that down
    sys.breakpointhook = no_debugger
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    raw = io.FileIO(0, closefd=False)
    raw.name = "<stdin>"
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8")
    worker = Worker(lines_in, lines_out, said)
    worker.streams.install()
    try:
        worker.serve(closed_in)
    except BaseException as error:  # no memory for a message, or what the submission did to this end
        os.write(said, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:TEXT_LIMIT])
        os._exit(1)
