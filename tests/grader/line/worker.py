"""The far end of the line: runs a submission in a process of its own, and answers calls as JSON lines.

It is sent over stdin as text (see submission.py), so it imports nothing of the kit and needs no file.
The near end trusts nothing that this end says: the submission in this process can do as it likes with it.

Lines that come:  {"kind": "load" | "call" | "calls" | "main" | "value" | "answer" | "end" | "failure", ...}
Lines that go:    {"kind": "ready" | "loaded" | "returned" | "raised" | "ask" | "next", ...}
"""

import faulthandler
import io
import json
import os
import signal
import sys
from _thread import allocate_lock

OUTPUT_LIMIT = 64 * 1024  # bytes of what the submission prints that are kept for each line to the grader
MESSAGE_LIMIT = 1024 * 1024  # characters of one line to the grader
DEPTH_LIMIT = 100  # containers inside one another that cross the line
TEXT_LIMIT = 4096  # characters of an exception's message
DIGITS_LIMIT = 4000  # hexadecimal digits of an integer: more cannot be shown, and older Pythons take for ever to
KEYS_LIMIT = 200  # keys of one dict or set that are no texts: numbers can be chosen to collide in a hash table
NAMES_LIMIT, ERRORS_LIMIT = 5000, 200  # names of the submission's module, and exceptions among them
PRELOADED = ("argparse", "collections.abc", "tempfile")  # what most submissions import, and what a run of main needs
FILE_LIMIT = 64 << 20  # bytes of a file that the submission writes
PLAIN_TYPES = {kind.__name__: kind for kind in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset, type(None))}
CONTENT_TYPES = (str, int, float, bytes, list, dict, tuple, set, frozenset)  # what is built on them crosses as its content
ATOMS, ONLY_TEXTS = {str, bool, type(None)}, {str}  # types whose values cross as they are, and that of most keys


class Malformed(Exception):
    """A line is not what the protocol allows."""


class TooLarge(Exception):
    """A value does not fit into one line."""


# ---- values. What JSON has crosses as JSON: None, bool, str, finite float, small int, list, and dict with texts as keys.
# All else is {"$tag": content}; so is a dict that looks like that.


class Opaque:
    """Stands for a value that cannot cross: it equals nothing, itself included."""

    def __init__(self, name):
        self.name = name

    __hash__ = object.__hash__  # it may be a key all the same

    def __eq__(self, other):
        return False

    def __repr__(self):
        return f"<{self.name}>"


def encode(value, number_of, depth=0):
    """Return value as JSON can carry it. number_of(callable or iterator) gives what it crosses as, or None.

    A subclass is worth what its content is worth: its own __eq__ or __str__ stays behind.
    """
    kind = type(value)
    if kind in ATOMS:  # what comes most comes first
        return value
    if kind is list and depth < DEPTH_LIMIT:
        return [item if type(item) in ATOMS else encode(item, number_of, depth + 1) for item in value]
    if kind is dict and depth < DEPTH_LIMIT and ONLY_TEXTS.issuperset(map(type, value)) and not looks_tagged(value):
        return {key: item if type(item) in ATOMS else encode(item, number_of, depth + 1) for key, item in value.items()}
    if not issubclass(kind, CONTENT_TYPES):
        return encode_by_name(value, kind, number_of)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return encode_int(int.__int__(value))
    if issubclass(kind, float):
        plain = float.__float__(value)
        return plain if plain - plain == 0 else {"$float": float.__repr__(plain)}
    if issubclass(kind, bytes):
        return {"$bytes": bytes.hex(value)}
    if depth == DEPTH_LIMIT:
        return {"$opaque": "a value nested too deep"}
    return encode_container(kind, value, number_of, depth + 1)


def encode_by_name(value, kind, number_of):
    """Return what stands for a type, a callable or an iterator, or for what cannot cross."""
    if kind is type and PLAIN_TYPES.get(value.__name__) is value:
        return {"$type": value.__name__}
    if callable(value) or hasattr(kind, "__next__"):
        number = number_of(value)
        if number is not None:
            return {"$next" if hasattr(kind, "__next__") else "$callable": [number, getattr(value, "__name__", kind.__name__)]}
    return {"$opaque": f"a value of the type {kind.__name__}"}


def looks_tagged(record):
    """Return whether a dict with texts as keys has just one, and it begins with $."""
    return dict.__len__(record) == 1 and next(dict.__iter__(record))[:1] == "$"


def encode_container(kind, value, number_of, depth):
    if issubclass(kind, dict):
        pairs = [(key, encode(item, number_of, depth)) for key, item in dict.items(value)]
        if all(type(key) is str for key, _ in pairs) and not looks_tagged(value):
            return dict(pairs)
        return {"$dict": [[encode(key, number_of, depth), item] for key, item in pairs]}
    plain = next(plain for plain in (list, tuple, set, frozenset) if issubclass(kind, plain))
    items = [encode(item, number_of, depth) for item in plain.__iter__(value)]
    return items if plain is list else {f"${plain.__name__}": items}


def encode_int(number):
    if -(1 << 63) < number < 1 << 63:
        return number
    if int.bit_length(number) > 4 * DIGITS_LIMIT - 16:
        return {"$opaque": f"an integer of {int.bit_length(number)} bits"}
    return {"$int": hex(number)}


def decode(value, depth=0):
    """Return what encode was given; Malformed for what stands for no value."""
    kind = type(value)
    if kind in ATOMS or kind is int or kind is float:
        return value
    if depth > DEPTH_LIMIT:
        raise Malformed("a value is nested too deep")
    if kind is list:
        return [item if type(item) in ATOMS else decode(item, depth + 1) for item in value]
    if not looks_tagged(value):
        return {key: item if type(item) in ATOMS else decode(item, depth + 1) for key, item in value.items()}
    (tag, content), = value.items()
    if type(content) is list:
        content = [decode(item, depth if tag == "$dict" else depth + 1) for item in content]  # a pair is no level of its own
    return untag(tag, content)


def untag(tag, content, stub_for=None):
    """Return the value of {tag: content}, whose content is decoded already; Malformed when it stands for none.

    stub_for(tag, number, name) makes the stand-in for a callable or iterator.
    """
    if type(content) is str:
        return untag_text(tag, content)
    if type(content) is not list:
        raise Malformed(f"{tag[:40]!r}: neither a text nor a list")
    if tag == "$dict":
        if not all(type(pair) is list and len(pair) == 2 for pair in content):
            raise Malformed("$dict: a pair is missing")
        return hashed(dict, content, [key for key, _ in content])
    if tag in ("$callable", "$next") and stub_for is not None:
        return stub_for(tag, *content)
    if tag == "$tuple":
        return tuple(content)
    if tag == "$set" or tag == "$frozenset":
        return hashed(PLAIN_TYPES[tag[1:]], content, content)
    raise Malformed(f"unknown tag {tag[:40]!r}")


def untag_text(tag, content):
    """Return the value of a tag that carries a text."""
    try:
        if tag == "$int" and len(content) <= DIGITS_LIMIT:
            return int(content, 16)
        if tag == "$float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if tag == "$bytes":
            return bytes.fromhex(content)
        if tag == "$type":
            return PLAIN_TYPES[content]
        if tag == "$opaque":
            return Opaque(content[:TEXT_LIMIT])
    except (ValueError, KeyError) as error:
        raise Malformed(f"{tag}: {content[:40]!r}") from error
    raise Malformed(f"{tag[:40]!r}: {content[:40]!r}")


def hashed(kind, items, keys):
    """Return a dict, set or frozenset of items. A key given twice is refused, as in a reply of a model."""
    if sum(type(key) is not str for key in keys) > KEYS_LIMIT:
        raise Malformed(f"{kind.__name__}: more than {KEYS_LIMIT} keys that are no texts")
    try:
        made = kind(items)
    except TypeError as error:  # a list cannot be a key
        raise Malformed(f"{kind.__name__}: {error}") from error
    if len(made) != len(items):
        raise Malformed(f"{kind.__name__}: a key is given twice")
    return made


# ---- running a command line, here and in the grader's --debug


def clear(folder, kept):
    """Remove all that an earlier run left in a folder, but the folders in kept: to make them anew takes time."""
    for place, folders, names in os.walk(folder, topdown=False):
        for path in [os.path.join(place, name) for name in names + folders]:
            if os.path.islink(path) or not os.path.isdir(path):
                os.unlink(path)
            elif not any(f"{place}{os.sep}".startswith(f"{path}{os.sep}") for place in kept):
                os.rmdir(path)


def run_main(module, argv, files, encoding, folder):
    """Run module.main(argv) in a folder with just these files {name: text}; return (exit code, stdout, stderr).

    The code is what a shell would see: sys.exit() and None are 0, a text goes to stderr and is 1.
    """
    paths = {os.path.join(folder, *name.split("/")): text for name, text in files.items()}
    clear(folder, set(map(os.path.dirname, paths)))
    for path, text in paths.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors) for errors in ("strict", "backslashreplace")]
    home, kept = os.getcwd(), (sys.stdout, sys.stderr)
    try:
        os.chdir(folder)
        sys.stdout, sys.stderr = streams
        code = module.main(argv)
    except SystemExit as leaving:
        code = leaving.code
    finally:
        sys.stdout, sys.stderr = kept
        os.chdir(home)
    if code is not None and not isinstance(code, int):
        streams[1].write(f"{code}\n")
        code = 1
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding, "replace")[-OUTPUT_LIMIT // 2 :])
    return (0 if code is None else code, *texts)


# ---- the worker


class Kept(io.RawIOBase):
    """Where the submission's output goes: the first OUTPUT_LIMIT bytes are kept, the rest is counted."""

    def __init__(self):
        self.parts, self.kept, self.dropped = [], 0, 0

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        part = data[: OUTPUT_LIMIT - self.kept]
        self.parts.append(part)
        self.kept += len(part)
        self.dropped += len(data) - len(part)
        return len(data)

    def take(self):
        """Return {"printed": [text, number of bytes dropped]} since the last time, or {} when nothing was printed."""
        if not self.parts:
            return {}
        taken = [b"".join(self.parts).decode("utf-8", "replace"), self.dropped]
        self.parts, self.kept, self.dropped = [], 0, 0
        return {"printed": taken}


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


class Worker:
    """Reads one line, does what it says, writes one line; in between it may ask the grader."""

    def __init__(self, lines_in, lines_out, kept):
        self.lines_in, self.lines_out, self.kept = lines_in, lines_out, kept
        self.encoder = json.JSONEncoder(check_circular=False)  # encode has bounded the depth
        self.decoder = json.JSONDecoder(object_hook=self.value_of)
        self.module, self.sources, self.files, self.errors, self.names, self.foreign = None, {}, set(), {}, {}, {}
        self.process, self.turn, self.lock, self.folder = os.getpid(), 0, allocate_lock(), None
        self.temporary = os.environ.get("TMPDIR")  # whatever the submission makes of it

    def send(self, kind, **content):
        text = self.encoder.encode({"kind": kind, **content, **self.kept.take()})
        if len(text) > MESSAGE_LIMIT:
            raise TooLarge(f"a value of {len(text):,} characters is too large to cross to the tests")
        if os.getpid() != self.process:
            os._exit(0)  # a child that the submission forked has come back here: the line is not its own
        self.lines_out.write(text.encode("ascii") + b"\n")
        self.lines_out.flush()

    def receive(self):
        line = self.lines_in.readline()
        if line:
            return self.decoder.decode(line.decode("ascii"))
        if self.folder:
            __import__("shutil").rmtree(self.folder, ignore_errors=True)
        os._exit(0)  # the grader is gone

    def value_of(self, record):
        """Return what an object in a line stands for. The grader sends none that is nested too deep."""
        return untag(*record.popitem(), self.stub_for) if looks_tagged(record) else record

    def encode(self, value):
        return encode(value, lambda _: None)

    def ask(self, turn, kind, number, args, kwargs):
        """Let the grader call its callable (or iterator) of that number; return or raise what comes.

        Threads take turns. A function is good for the call that it came with, and for none later.
        """
        content = {"number": number, "args": self.encode(list(args)), "kwargs": self.encode(kwargs)}
        with self.lock:
            if turn != self.turn:
                raise RuntimeError("this function came with an earlier call, which is over")
            self.send(kind, **content)
            answer = self.receive()
        if answer["kind"] == "answer":
            return answer["value"]
        if answer["kind"] == "end":
            raise StopIteration
        raise self.foreign_error(answer)

    def stub_for(self, tag, number, name):
        turn = self.turn
        if tag == "$next":
            return self.items(turn, number)

        def stub(*args, **kwargs):
            return self.ask(turn, "ask", number, args, kwargs)

        stub.__name__ = stub.__qualname__ = name
        return stub

    def items(self, turn, number):
        while True:
            try:
                item = self.ask(turn, "next", number, (), {})
            except StopIteration:
                return
            yield item

    def foreign_error(self, answer):
        """Return the exception that the grader's callable raised, remembered by identity."""
        base = self.errors.get(answer["class"])
        if base is None:
            base = getattr(__import__("builtins"), answer["builtin"], Exception)
            if base.__name__ != answer["class"]:
                base = type(answer["class"], (base,), {})
        args = answer["args"]
        try:
            error = base.__new__(base, *args)
        except TypeError:  # this class wants to be made in another way
            error = Exception.__new__(Exception)
        error.args = tuple(args)
        self.foreign[answer["number"]] = error
        return error

    def describe(self, error):
        """Return an exception as what the grader may know of it."""
        try:
            message = str(error)
        except BaseException as second:
            message = f"(its message cannot be shown: str() raised {type(second).__name__})"
        place, trace = None, error.__traceback__  # the last line that is the submission's own
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file in self.files:
                place = [file, trace.tb_lineno]
            trace = trace.tb_next
        if isinstance(error, SyntaxError) and error.filename in self.files:
            place = [error.filename, error.lineno]
            message = str(error.msg)
        if isinstance(error, ModuleNotFoundError):
            message += ": only the standard library, and the files beside it, can be imported"
        same = next((number for number, known in self.foreign.items() if known is error), None)
        kind = type(error)
        builtin = next(base.__name__ for base in type.mro(kind) if base.__module__ == "builtins")
        known = {"class": kind.__name__, "lab": self.lab_names(kind), "builtin": builtin, "same": same}
        return {**known, "message": str.__str__(message)[:TEXT_LIMIT], "place": place}

    def lab_names(self, kind):
        """Return the names under which the submission's module has an exception class and its bases, nearest first."""
        return [self.names[id(base)] for base in type.mro(kind) if id(base) in self.names]

    def load(self, message):
        """Run the submission's source as a module; return the names of its functions, exceptions and values."""
        limit_resources(message["memory"], message["seconds"])
        self.sources = message["sources"]
        self.files = {f"{name}.py" for name in self.sources}
        sys.meta_path.append(Finder(self.sources))
        self.module = __import__(message["module"])
        functions, values = [], []
        for name, value in [(name, value) for name, value in vars(self.module).items() if not name.startswith("_")][:NAMES_LIMIT]:
            if isinstance(value, type) and issubclass(value, BaseException):
                if len(self.errors) < ERRORS_LIMIT:
                    self.errors[name] = value
                    self.names.setdefault(id(value), name)  # a second name for one class is no second class
            else:
                (functions if callable(value) else values).append(name)
        errors = {name: self.lab_names(kind) for name, kind in self.errors.items()}
        return {"functions": functions, "errors": errors, "values": values}

    def do(self, message):
        """Return (kind, content) of the line that answers a message."""
        try:
            if message["kind"] == "load":
                return "loaded", self.load(message)
            if message["kind"] == "main":
                self.folder = self.folder or __import__("tempfile").mkdtemp(prefix="main-", dir=self.temporary)
                value = run_main(self.module, message["argv"], message["files"], message["encoding"], self.folder)
            else:
                value = getattr(self.module, message["name"])
            if message["kind"] == "call":
                value = value(*message["args"], **message["kwargs"])
            return "returned", {"value": self.encode(value)}
        except BaseException as error:
            return "raised", self.describe(error)

    def reply(self, message):
        """Do what a message says and send the line that answers it."""
        self.foreign.clear()
        kind, content = self.do(message)
        with self.lock:
            self.turn += 1
            try:
                self.send(kind, **content)
            except TooLarge as error:
                self.send("raised", **self.describe(error))

    def serve(self):
        self.send("ready")
        for name in PRELOADED:  # now, since the grader is busy anyway
            __import__(name)
        while True:
            message = self.receive()
            if message["kind"] == "calls":
                for line in message["lines"]:
                    self.reply(self.decoder.decode(line))
            else:
                self.reply(message)


def limit_resources(memory, seconds):
    """Bound this process: memory in MiB, processor time in seconds. Windows has no such limits, macOS not the first."""
    try:
        import resource
    except ImportError:
        return
    for name, amount in (("RLIMIT_AS", memory << 20), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", FILE_LIMIT)):
        try:
            resource.setrlimit(getattr(resource, name), (amount, amount))
        except (AttributeError, ValueError, OSError):  # this system does not have it, or has a lower one already
            continue


def no_debugger(*_, **__):
    raise RuntimeError("breakpoint() works with --debug only")


def start():
    """Move the line to private descriptors, put nothing and a bounded memory in the place of 0, 1 and 2, and serve.

    So a print, a write to descriptor 1 and a read of stdin touch nothing that the grader reads.
    """
    lines_in, lines_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    if hasattr(faulthandler, "register"):  # not on Windows: asked by this signal, it tells which line is running
        faulthandler.register(signal.SIGUSR1, os.dup(2))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a grader that ignores it hands that down
    sys.breakpointhook = no_debugger
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    kept = Kept()
    sys.stdin = sys.__stdin__ = open(os.devnull, encoding="utf-8")
    for name in ("stdout", "stderr"):
        stream = io.TextIOWrapper(kept, encoding="utf-8", errors="backslashreplace", write_through=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    Worker(lines_in, lines_out, kept).serve()


if __name__ == "__main__":
    start()
