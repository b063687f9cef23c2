"""Writes files: whole or not at all, or line by line where a kill must lose nothing.
It stands below all other parts.
"""

import errno
import os
import shutil
from pathlib import Path

# the system's numbers for a want of the place, and not of what is written or read
PLACE_ERRORS = [
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "ENOMEM", "EAGAIN", "EMFILE", "ENFILE", "EIO", "EROFS")
    if hasattr(errno, name)
]


def write(path, content):
    """Write a file (bytes, str or pieces of str) whole or not at all; newlines stay. A pipe is written to directly."""
    pieces = [content] if isinstance(content, (bytes, str)) else content
    data = (piece if isinstance(piece, bytes) else piece.encode("utf-8") for piece in pieces)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            stream.writelines(data)
        return
    path = Path(os.path.realpath(path))
    part = beside(path)
    try:
        with open(part, "wb") as stream:
            stream.writelines(data)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def check_writable(path):
    """OSError where write() could not write a file; the file stays as it is. A pipe is not tried: somebody reads it."""
    if os.path.exists(path) and not os.path.isfile(path):
        return
    path = Path(os.path.realpath(path))
    part = beside(path)
    try:
        part.touch()
    finally:
        part.unlink(missing_ok=True)


def write_new(path, content):
    """Write a file as write() does, where there is nothing yet; FileExistsError where something is."""
    refuse_existing(path)
    write(path, content)


def write_folder(path, files):
    """Make a folder that holds {name with slashes: bytes}, whole or not at all; FileExistsError where something is."""
    refuse_existing(path)
    path = Path(os.path.realpath(path))
    part = beside(path)
    part.mkdir()
    try:
        for name, data in files.items():
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        os.rename(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def refuse_existing(path):
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "there is something of this name already")


def beside(path):
    """Return where the parts of a file or folder are put together before they get its name."""
    return path.with_name(f".{path.name[:100]}-{os.getpid()}.part")


class Lines:
    """A file that grows line by line and holds each line at once: a kill loses at most the one being written."""

    def __init__(self, path, lines):
        """Begin the file anew with these lines; OSError where it cannot be written."""
        self.path = path
        write(path, (f"{line}\n" for line in lines))
        self.stream = open(path, "ab", buffering=0)

    def add(self, line):
        self.stream.write(line.encode("utf-8") + b"\n")

    def remove(self):
        """Take the file away: what it holds stands elsewhere now."""
        self.stream.close()
        os.unlink(self.path)
