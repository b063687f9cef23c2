"""What a submission has of a started Python: its streams, and its main that is run as a command line.

Used in the worker, and in the grader's own process with --debug.
"""

import io
import os
import sys

from grader.line.protocol import OUTPUT_LIMIT

NAMES = ("stdout", "stderr")
STANDARD = (0, 1, 2)  # descriptors of stdin, stdout, stderr
CAPTURE_LIMIT = 16 << 20  # bytes in the file that captures main's output; of more only the end is kept
ERRORS = ("strict", "backslashreplace")  # how a started Python writes what an encoding lacks, to each of the two


class Kept:
    """What a submission prints outside of main: the first OUTPUT_LIMIT bytes are kept, the rest is counted."""

    def __init__(self):
        self.parts = []  # bytes
        self.kept = 0  # bytes in the parts
        self.dropped = 0  # bytes

    def write(self, data):
        data = bytes(data)
        part = data[: OUTPUT_LIMIT - self.kept]
        self.parts.append(part)
        self.kept += len(part)
        self.dropped += len(data) - len(part)
        return len(data)

    def take(self):
        """Return [text, number of bytes dropped] since the last time, or None when nothing was printed."""
        if not self.parts:
            return None
        taken = [as_text(b"".join(self.parts), "utf-8"), self.dropped]
        self.parts, self.kept, self.dropped = [], 0, 0
        return taken


def as_text(data, encoding):
    """Return printed bytes as text, with the line ends that Python has inside."""
    text = data.decode(encoding, "replace")
    return text if os.linesep == "\n" else text.replace(os.linesep, "\n")


class Output(io.RawIOBase):
    """The lowest part of stdout or stderr. It has a descriptor, and it stays open whoever closes it."""

    mode = "wb"

    def __init__(self, name, descriptor, kept):
        self.name, self.descriptor = f"<{name}>", descriptor
        self.kept = kept  # where it goes while it does not go to the descriptor
        self.to_descriptor = False
        self.end = 0  # of the file at the descriptor, when this stream was the last to write there

    def fileno(self):
        return self.descriptor

    def writable(self):
        return True

    def write(self, data):
        if not self.to_descriptor:
            return self.kept.write(data)
        self.make_room()
        written = os.write(self.descriptor, data)
        self.end = self.place()
        return written

    def place(self):
        """Return how many bytes stand in the file at the descriptor, or -1 when it is not a file (any more)."""
        try:
            return os.lseek(self.descriptor, 0, os.SEEK_CUR)
        except OSError:
            return -1

    def make_room(self):
        """End a line that was written past this stream, and shorten a file that has become too large to its end."""
        place = self.place()
        if place > 0 and place != self.end:
            os.lseek(self.descriptor, -1, os.SEEK_CUR)
            if os.read(self.descriptor, 1) != b"\n":
                os.write(self.descriptor, b"\n")
        if place > CAPTURE_LIMIT:
            os.lseek(self.descriptor, -2 * OUTPUT_LIMIT, os.SEEK_CUR)
            last = os.read(self.descriptor, 2 * OUTPUT_LIMIT)
            os.ftruncate(self.descriptor, 0)
            os.lseek(self.descriptor, 0, os.SEEK_SET)
            os.write(self.descriptor, last)

    def close(self):
        pass


class Buffer(io.BufferedWriter):
    """What stands between an Output and its text. It stays open when a wrapper that a submission made goes."""

    def close(self):
        self.flush()


class Streams:
    """stdout and stderr of a submission. They are the same objects as long as it lives, so a logger may keep one."""

    def __init__(self, kept, descriptors=(1, 2)):
        self.outputs = [Output(name, descriptor, kept) for name, descriptor in zip(NAMES, descriptors)]
        self.texts = [self.wrapped(output) for output in self.outputs]

    def wrapped(self, output):
        return io.TextIOWrapper(
            Buffer(output), encoding="utf-8", errors="backslashreplace", newline="\n", line_buffering=True
        )

    def install(self):
        """Make them what a program finds in sys."""
        for name, text in zip(NAMES, self.texts):
            setattr(sys, name, text)
            setattr(sys, f"__{name}__", text)

    def set_encodings(self, encoding, errors):
        """Write in an encoding from now on; a stream that a submission has taken apart is made anew."""
        for number, (text, output) in enumerate(zip(self.texts, self.outputs)):
            try:
                text.reconfigure(encoding=encoding, errors=errors[number])
            except ValueError:
                self.texts[number] = self.wrapped(output)
                self.texts[number].reconfigure(encoding=encoding, errors=errors[number])

    def flush(self, *others):
        """Write what waits in a buffer, of these streams and of others that a submission has put in their place."""
        for text in (*others, *self.texts):
            try:
                text.flush()
            except Exception:  # it was taken apart, or is something else
                continue


class Captured:
    """A file for what a run of main prints, on stdout or stderr, from this process and from those that it starts."""

    def __init__(self, folder):
        if hasattr(os, "memfd_create"):  # Linux: a full disk does not matter
            self.file = open(os.memfd_create("printed"), "w+b")
        else:
            import tempfile

            self.file = tempfile.TemporaryFile(dir=folder)

    def text(self, encoding):
        """Return the end of what was printed. Where a child still prints, the place in the file is not ours to move."""
        length = 2 * OUTPUT_LIMIT  # bytes: a character can take several
        start = max(0, os.fstat(self.file.fileno()).st_size - length)
        if hasattr(os, "pread"):
            data = os.pread(self.file.fileno(), length, start)
        else:
            self.file.seek(start)
            data = self.file.read(length)
        return as_text(data, encoding)[-OUTPUT_LIMIT // 2 :]


class Program:
    """Runs a module's main as a command line, in a folder of its own."""

    def __init__(self, folder, streams=None):
        """streams: those of this process, whose descriptors main gets too; None: it is a process of other work."""
        self.folder = folder
        self.streams = streams

    def run(self, module, argv, files, encoding):
        """Run module.main(argv) with just these files {name: text}; return (exit code, stdout, stderr).

        The code is what a shell would see: sys.exit() and None are 0, a text goes to stderr and is 1.
        """
        self.fill(files)
        if self.streams is not None:
            hold_standard_descriptors()
        captured = [Captured(os.path.dirname(self.folder)) for _ in NAMES]
        with captured[0].file as out, captured[1].file as err:
            streams = self.streams or Streams(None, (out.fileno(), err.fileno()))
            code = self.run_main(module, argv, streams, (out.fileno(), err.fileno()), encoding)
            texts = [file.text(encoding) for file in captured]
        return (code, *texts)

    def fill(self, files):
        """Put just these files {name: text} into the folder."""
        paths = {os.path.join(self.folder, *name.split("/")): text for name, text in files.items()}
        clear(self.folder, set(map(os.path.dirname, paths)))
        for path, text in paths.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:  # the same bytes on Windows
                file.write(text)

    def run_main(self, module, argv, streams, descriptors, encoding):
        """Run main with its output going to these descriptors; return the exit code."""
        before = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, sys.argv, os.getcwd())
        streams.flush()
        streams.set_encodings(encoding, ERRORS)
        for output, descriptor in zip(streams.outputs, descriptors):
            if output.descriptor != descriptor:
                os.dup2(descriptor, output.descriptor)
            output.to_descriptor, output.end = True, 0
        try:
            streams.install()
            os.chdir(self.folder)
            sys.argv = [f"{module.__name__}.py", *argv]
            return exit_code(module.main, argv)
        finally:
            streams.flush(sys.stdout, sys.stderr)
            sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, sys.argv, home = before
            os.chdir(home)
            self.give_back(streams)

    def give_back(self, streams):
        """Let the streams of this process go where they went before main."""
        for output in streams.outputs:
            output.to_descriptor = False
        if self.streams is not None:
            streams.set_encodings("utf-8", ("backslashreplace", "backslashreplace"))
            streams.install()
            nothing = os.open(os.devnull, os.O_RDWR)
            for output in streams.outputs:
                os.dup2(nothing, output.descriptor)
            os.close(nothing)


def hold_standard_descriptors():
    """Open nothing where 0, 1 or 2 is closed: else the next file to be opened gets that number."""
    number = 0
    while number <= max(STANDARD):
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)


def exit_code(main, argv):
    """Return the exit code of a program that is main(argv), and print what it exits with."""
    try:
        code = main(argv)
    except SystemExit as leaving:
        code = leaving.code
    if code is None or isinstance(code, int):
        return 0 if code is None else code
    print(code, file=sys.stderr)
    return 1


def clear(folder, kept):
    """Remove all that an earlier run left in a folder, but the folders in kept: to make them anew takes time."""
    for place, folders, names in os.walk(folder, topdown=False):
        for path in [os.path.join(place, name) for name in names + folders]:
            if os.path.islink(path) or not os.path.isdir(path):
                os.unlink(path)
            elif not any(f"{place}{os.sep}".startswith(f"{path}{os.sep}") for place in kept):
                os.rmdir(path)
