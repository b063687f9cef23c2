"""Unpacks a zip that came from outside: a class as a platform exports it, or what one student handed in.

Only Python files and further zips are written out; of other files the names are enough. Nothing leaves the folder,
links are not made, and size and number are bounded, whatever the zip says of itself.
"""

import contextlib
import os
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path

FILES_LIMIT = 20_000  # entries of one zip
FILE_LIMIT = (1 << 20) + 1  # bytes that are written of one file: one more than a source may have
ZIP_LIMIT = 8 << 20  # bytes of a zip inside another
ALL_LIMIT = 256 << 20  # bytes that are written of one zip
DEPTH_LIMIT = 12  # folders inside each other
UTF_8 = 0x800  # the bit of an entry that says so
NAME_LIMIT = 200  # characters of one of them
# among them an unknown method, and a password
FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


class ArchiveError(Exception):
    """A zip cannot be unpacked; the message says why."""


def unpacked_prefix():
    """Return how the name of the folder for what is unpacked begins."""
    return f"unpacked-{os.getpid()}-"


class Room:
    """A folder for what is unpacked, which is removed with the program's end."""

    folder = None
    number = 0

    @classmethod
    def new(cls, name):
        """Return the path of a new folder in it of that name."""
        if cls.folder is None:
            cls.folder = tempfile.TemporaryDirectory(prefix=unpacked_prefix())
        cls.number += 1
        path = Path(cls.folder.name, str(cls.number), name)
        path.mkdir(parents=True)
        return path


def unpack(path):
    """Unpack a zip; return (the folder that holds its files, names that were left out). ArchiveError says why not."""
    left_out, room = [], ALL_LIMIT
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > FILES_LIMIT:
                raise ArchiveError(f"it has more than {FILES_LIMIT:,} entries")
            folder = Room.new(path.name[:NAME_LIMIT])
            for entry in entries:
                try:
                    room -= write_entry(archive, entry, folder)
                except FAULTS:
                    left_out.append(name_of(entry))
                if room < 0:
                    raise ArchiveError(f"it holds more than {ALL_LIMIT:,} bytes")
    except FAULTS as error:
        raise ArchiveError(f"it cannot be unpacked: {error}") from error
    return folder, left_out


def write_entry(archive, entry, folder):
    """Write one entry of a zip, or just the name of a file that is not needed; return its bytes.

    ValueError refuses its name.
    """
    place = folder.joinpath(*safe_parts(entry))
    if entry.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        return 0
    limit = {".py": FILE_LIMIT, ".zip": ZIP_LIMIT}.get(place.suffix.lower(), 0)
    data = b""
    if limit:
        with archive.open(entry) as file:
            data = file.read(limit)
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place, "xb") as file:
        file.write(data)
    return len(data)


def name_of(entry):
    """Return an entry's name: many programs write UTF-8 without saying so, and zipfile takes it for a code page of DOS."""
    if not entry.flag_bits & UTF_8:
        with contextlib.suppress(UnicodeError):
            return entry.filename.encode("cp437").decode("utf-8")
    return entry.filename


def safe_parts(entry):
    """Return the parts of an entry's name; ValueError when they lead elsewhere, or the entry is a link or a device."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    parts = name_of(entry).replace("\\", "/").rstrip("/").split("/")
    wrong = any(part in ("", ".", "..") or len(part) > NAME_LIMIT or ":" in part or "\0" in part for part in parts)
    if wrong or len(parts) > DEPTH_LIMIT or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ValueError("a name that leads elsewhere")
    return parts
