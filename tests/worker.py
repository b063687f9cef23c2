"""The far end of the line: runs a submission in a process of its own, and answers calls as JSON lines.

It is sent over stdin as text (see submission.py), so it imports nothing of the kit and needs no file.
The near end trusts nothing that this end says: the submission in this process can do as it likes with it.

Lines that come:  what to load, then {"kind": "call" | "main" | "answer" | "end" | "failure", ...}
Lines that go:    {"kind": "loaded" | "returned" | "raised" | "ask" | "next", ...}
"""

import io
import json
import os
import sys

OUTPUT_LIMIT = 64 * 1024  # bytes of what the submission prints that are kept for each call
MESSAGE_LIMIT = 1024 * 1024  # characters of one line to the grader
DEPTH_LIMIT = 100  # containers inside one another that cross the line
TEXT_LIMIT = 4096  # characters of an exception's message
FRAME_LIMIT = 10  # lines of the submission's traceback, the last ones
PLAIN_TYPES = {kind.__name__: kind for kind in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset, type(None))}


class Malformed(Exception):
    """A line is not what the protocol allows."""


# ---- values. None, bool, str, finite float, small int and list cross as JSON; all else as {tag: content}.


class Opaque:
    """Stands for a value that cannot cross: it equals nothing."""

    def __init__(self, name):
        self.name = name

    __hash__ = None

    def __eq__(self, other):
        return False

    def __repr__(self):
        return f"<{self.name}>"


def encode(value, number_of, depth=0):
    """Return value as JSON can carry it. number_of(callable or iterator) gives what it crosses as, or None.

    A subclass is worth what its content is worth: its own __eq__ or __str__ stays behind.
    """
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if depth > DEPTH_LIMIT:
        return {"opaque": "a value nested too deep"}
    inner = depth + 1
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        plain = int.__int__(value)
        return plain if -(1 << 63) < plain < 1 << 63 else {"int": hex(plain)}
    if issubclass(kind, float):
        plain = float.__float__(value)
        return plain if plain - plain == 0 else {"float": float.__repr__(plain)}
    if issubclass(kind, list):
        return [encode(item, number_of, inner) for item in list.__iter__(value)]
    if issubclass(kind, dict):
        pairs = list(dict.items(value))
        return {"dict": [[encode(key, number_of, inner), encode(item, number_of, inner)] for key, item in pairs]}
    for plain in (tuple, set, frozenset):
        if issubclass(kind, plain):
            return {plain.__name__: [encode(item, number_of, inner) for item in plain.__iter__(value)]}
    if issubclass(kind, bytes):
        return {"bytes": bytes.hex(value)}
    if kind is type and PLAIN_TYPES.get(value.__name__) is value:
        return {"type": value.__name__}
    if callable(value) or hasattr(value, "__next__"):
        number = number_of(value)
        if number is not None:
            return {"next" if hasattr(value, "__next__") else "callable": [number, getattr(value, "__name__", kind.__name__)]}
    return {"opaque": f"a value of the type {kind.__name__}"}


def decode(value, stub_for=None, depth=0):
    """Return what encode was given; Malformed for all that encode does not write.

    stub_for(tag, number, name) makes the stand-in for a callable or iterator.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if depth > DEPTH_LIMIT + 1:
        raise Malformed("a value is nested too deep")
    if type(value) is list:
        return [decode(item, stub_for, depth + 1) for item in value]
    if type(value) is not dict or len(value) != 1:
        raise Malformed("a value is neither plain nor tagged")
    (tag, content), = value.items()
    if tag in ("int", "float", "bytes", "type", "opaque"):
        return decode_text(tag, content)
    if type(content) is not list:
        raise Malformed(f"{tag}: a list is missing")
    if tag in ("callable", "next") and stub_for is not None:
        return stub_for(tag, *content)
    items = [decode(item, stub_for, depth + 1) for item in content]
    if tag == "tuple":
        return tuple(items)
    return hashed(tag, items)


def decode_text(tag, content):
    """Return the value of a tag that carries a text."""
    if type(content) is not str:
        raise Malformed(f"{tag}: a text is missing")
    try:
        if tag == "int":
            return int(content, 16)
        if tag == "float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if tag == "bytes":
            return bytes.fromhex(content)
        if tag == "type":
            return PLAIN_TYPES[content]
        if tag == "opaque":
            return Opaque(content[:TEXT_LIMIT])
    except (ValueError, KeyError) as error:
        raise Malformed(f"{tag}: {content[:40]!r}") from error
    raise Malformed(f"{tag}: {content[:40]!r}")


def hashed(tag, items):
    """Return a dict, set or frozenset. Only texts may be many: numbers can be chosen to collide in a hash table."""
    keys = items
    if tag == "dict":
        if not all(type(item) is list and len(item) == 2 for item in items):
            raise Malformed("dict: a pair is missing")
        keys = [key for key, _ in items]
    if sum(type(key) is not str for key in keys) > 1000:
        raise Malformed(f"{tag}: more than 1000 keys that are no texts")
    try:
        if tag == "dict":
            return dict(items)
        if tag == "set":
            return set(items)
        if tag == "frozenset":
            return frozenset(items)
    except TypeError as error:
        raise Malformed(f"{tag}: {error}") from error
    raise Malformed(f"unknown tag {tag[:40]!r}")


# ---- running a command line, here and in the grader's --debug


def run_main(module, argv, files, encoding):
    """Run module.main(argv) in a temporary folder with these files; return (exit code, stdout, stderr) as texts."""
    import contextlib
    import tempfile

    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors) for errors in ("strict", "backslashreplace")]
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        try:
            os.chdir(folder)
            with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
                try:
                    code = module.main(argv)
                except SystemExit as leaving:
                    code = leaving.code
        finally:
            os.chdir(home)
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding))
    return (code, *texts)


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
        """Return [text, number of bytes dropped] since the last time."""
        taken = [b"".join(self.parts).decode("utf-8", "replace"), self.dropped]
        self.parts, self.kept, self.dropped = [], 0, 0
        return taken


class Finder:
    """Asked last: finds the submission's own files, never before the standard library's, and names what is missing."""

    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        from importlib.machinery import ModuleSpec

        if name in self.sources:
            return ModuleSpec(name, self, origin=f"{name}.py")
        if path is None:
            raise ModuleNotFoundError(f"No module named {name!r}: only the standard library can be imported here", name=name)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        module.__file__ = f"{name}.py"
        exec(compile(self.sources[name], f"{name}.py", "exec", dont_inherit=True), module.__dict__)


class Worker:
    """Reads one line, does what it says, writes one line; in between it may ask the grader."""

    def __init__(self, lines_in, lines_out, kept):
        self.lines_in, self.lines_out, self.kept = lines_in, lines_out, kept
        self.encoder = json.JSONEncoder(ensure_ascii=True)
        self.module, self.sources, self.errors, self.foreign = None, {}, {}, {}

    def send(self, kind, **content):
        text = self.encoder.encode({"kind": kind, "printed": self.kept.take(), **content})
        if len(text) > MESSAGE_LIMIT:
            large = {"class": "a value", "message": f"more than {MESSAGE_LIMIT:,} characters: too large to cross the line"}
            text = self.encoder.encode({"kind": "raised", "printed": ["", 0], "error": {**large, "lab": [], "lines": []}})
        self.lines_out.write(text.encode("ascii") + b"\n")
        self.lines_out.flush()

    def receive(self):
        line = self.lines_in.readline()
        if not line:
            os._exit(0)  # the grader is gone
        return json.loads(line)

    def encode(self, value):
        return encode(value, lambda _: None)

    def ask(self, kind, number, args, kwargs):
        """Let the grader call its callable (or iterator) of that number; return or raise what comes."""
        self.send(kind, number=number, args=self.encode(list(args)), kwargs=self.encode(kwargs))
        answer = self.receive()
        if answer["kind"] == "answer":
            return decode(answer["value"], self.stub_for)
        if answer["kind"] == "end":
            raise StopIteration
        raise self.foreign_error(answer)

    def stub_for(self, tag, number, name):
        if tag == "next":
            return self.items(number)

        def stub(*args, **kwargs):
            return self.ask("ask", number, args, kwargs)

        stub.__name__ = stub.__qualname__ = name
        return stub

    def items(self, number):
        while True:
            try:
                item = self.ask("next", number, (), {})
            except StopIteration:
                return
            yield item

    def foreign_error(self, answer):
        """Return the exception that the grader's callable raised, remembered by identity."""
        if answer["number"] in self.foreign:
            return self.foreign[answer["number"]]
        base = self.errors.get(answer["class"])
        if base is None:
            base = vars(__import__("builtins"))[answer["builtin"]]
            if base.__name__ != answer["class"]:
                base = type(answer["class"], (base,), {})
        error = base.__new__(base)
        error.args = tuple(decode(answer["args"]))
        self.foreign[answer["number"]] = error
        return error

    def describe(self, error):
        """Return an exception as what the grader may know of it."""
        try:
            message = str(error)
        except BaseException as second:
            message = f"(its message cannot be shown: str() raised {type(second).__name__})"
        mro = type.mro(type(error))
        names = [name for kind in mro for name, known in self.errors.items() if known is kind]
        own = {f"{name}.py" for name in self.sources}
        lines, trace = [], error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in own:
                lines.append([trace.tb_frame.f_code.co_filename, trace.tb_lineno])
            trace = trace.tb_next
        lines = lines[-FRAME_LIMIT:]
        if isinstance(error, SyntaxError) and error.filename in own:
            lines.append([error.filename, error.lineno])
            message = str(error.msg)
        builtin = next(kind.__name__ for kind in mro if kind.__module__ == "builtins")
        same = next((number for number, known in self.foreign.items() if known is error), None)
        described = {"class": type(error).__name__, "message": str.__str__(message)[:TEXT_LIMIT], "lab": names}
        return {**described, "lines": lines, "builtin": builtin, "same": same}

    def load(self, message):
        """Run the submission's source as a module, and tell the grader its functions, exceptions and values."""
        limit_resources(message["memory"], message["seconds"])
        self.sources = message["sources"]
        sys.meta_path.append(Finder(self.sources))
        self.module = __import__(message["module"])
        functions, values = {}, {}
        for name, value in list(vars(self.module).items()):
            if name.startswith("_"):
                continue
            if isinstance(value, type) and issubclass(value, BaseException):
                self.errors[name] = value
            elif isinstance(value, type(limit_resources)):
                functions[name] = value.__code__.co_firstlineno
            else:
                values[name] = self.encode(value)
        bases = {
            name: [other for base in type.mro(kind)[1:] for other, known in self.errors.items() if known is base]
            for name, kind in self.errors.items()
        }
        return {"functions": functions, "errors": bases, "values": values}

    def do(self, message):
        """Return (kind, content) of the line that answers a message."""
        try:
            if "sources" in message:
                return "loaded", self.load(message)
            if message["kind"] == "main":
                value = run_main(self.module, message["argv"], message["files"], message["encoding"])
            else:
                function = getattr(self.module, message["name"])
                args, kwargs = decode(message["args"], self.stub_for), decode(message["kwargs"], self.stub_for)
                value = function(*args, **kwargs)
            return "returned", {"value": self.encode(value)}
        except BaseException as error:
            return "raised", {"error": self.describe(error)}

    def serve(self):
        while True:
            message = self.receive()
            self.foreign.clear()
            kind, content = self.do(message)
            self.send(kind, **content)


def limit_resources(memory, seconds):
    """Bound this process: memory in MiB, processor time in seconds. Windows has no such limits, macOS not the first."""
    try:
        import resource
    except ImportError:
        return
    for name, amount in (("RLIMIT_AS", memory << 20), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0)):
        try:
            resource.setrlimit(getattr(resource, name), (amount, amount))
        except (AttributeError, ValueError, OSError):  # this system does not have it, or has a lower one already
            continue


def start():
    """Move the line to private descriptors, put nothing and a bounded memory in the place of 0, 1 and 2, and serve."""
    lines_in, lines_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
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
