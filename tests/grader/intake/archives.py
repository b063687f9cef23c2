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

from grader.files import PLACE_ERRORS
from grader.text import REASON_LIMIT, shortened

FILES_LIMIT = 20_000  # entries of one zip
FILE_LIMIT = (1 << 20) + 1  # bytes that are written of one file: one more than a source may have
ZIP_LIMIT = 8 << 20  # bytes of a zip inside another
ALL_LIMIT = 256 << 20  # bytes that are written of one zip
DEPTH_LIMIT = 12  # folders inside each other
UTF_8, PASSWORD = 0x800, 0x1  # the bits of an entry that say so
NAME_LIMIT = 200  # characters of one of them
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # a kilobyte of another can ask for gigabytes of memory
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
    faults = {}  # {path of a file in it that is empty: why its content could not be unpacked}

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
    """Unpack a zip; return (the folder that holds its files, {name that was left out: why}).

    ArchiveError says why not. OSError: the place has no room for it, which is not the zip's fault. A file whose content
    cannot be unpacked is there, and Room.faults says why it is empty.
    """
    if path in Room.faults:
        raise ArchiveError(Room.faults[path])
    refused, room = {}, ALL_LIMIT
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > FILES_LIMIT:
                raise ArchiveError(f"it has more than {FILES_LIMIT:,} entries")
            folder = Room.new(path.name[:NAME_LIMIT])
            for parts, entry in places_of(entries, refused).items():
                room -= size_of(entry, parts[-1])  # before it is read: what fails has cost as much
                if room < 0:
                    raise ArchiveError(f"it holds more than {ALL_LIMIT:,} bytes")
                try:
                    write_entry(archive, entry, folder.joinpath(*parts))
                except FAULTS as fault:
                    raise_if_place(fault)
                    refused[name_of(entry)] = reason_of(fault)
    except FAULTS as error:
        raise_if_place(error)
        raise ArchiveError(f"it cannot be unpacked: {reason_of(error)}") from error
    return folder, refused


def raise_if_place(error):
    if isinstance(error, OSError) and error.errno in PLACE_ERRORS:
        raise error


def reason_of(error):
    """Return why an entry could not be unpacked, without the paths of this machine."""
    return shortened(getattr(error, "strerror", None) or str(error), REASON_LIMIT)


def places_of(entries, refused):
    """Return {parts of a name: entry}: of two entries of one name the last counts, as for other programs;
    note the others.
    """
    places = {}
    for entry in entries:
        try:
            parts = safe_parts(entry)
        except ValueError as error:
            refused[name_of(entry)] = str(error)
            continue
        if parts in places:
            refused[name_of(entry)] = "this name is there twice, and the last one counts"
        places[parts] = entry
    return places


def size_of(entry, name):
    """Return how many bytes of an entry of this name are read:
    0 of what is not needed, and of a zip that is too large.
    """
    suffix = Path(name).suffix.lower()
    if suffix == ".zip":
        return entry.file_size if entry.file_size <= ZIP_LIMIT else 0
    return min(entry.file_size, FILE_LIMIT) if suffix == ".py" else 0


def write_entry(archive, entry, place):
    """Write one entry of a zip, or just the name of a file that is not needed, or whose content cannot be unpacked."""
    if entry.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        return
    data = b""
    try:
        data = content_of(archive, entry, size_of(entry, place.name))
        if not data and place.suffix.lower() == ".zip":
            raise ValueError(f"it is empty, or has more than {ZIP_LIMIT:,} bytes")
    except FAULTS as fault:
        raise_if_place(fault)
        Room.faults[place] = f"it cannot be unpacked: {reason_of(fault)}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place, "xb") as file:
        file.write(data)


def content_of(archive, entry, size):
    """Return the first `size` bytes of an entry."""
    if not size:
        return b""
    if entry.flag_bits & PASSWORD:
        raise ValueError("it has a password")
    if entry.compress_type not in METHODS:
        raise ValueError("it is compressed in an unusual way: use the system's own zip")
    with archive.open(entry) as file:
        return file.read(size)


def name_of(entry):
    """Return an entry's name: many programs write UTF-8 without saying so,
    and zipfile takes it for a code page of DOS.
    """
    if not entry.flag_bits & UTF_8:
        with contextlib.suppress(UnicodeError):
            return entry.filename.encode("cp437").decode("utf-8")
    return entry.filename


def safe_parts(entry):
    """Return the parts of an entry's name; ValueError when they lead elsewhere, or the entry is a link or a device."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    # "./a", "/a": a
    parts = tuple(part for part in name_of(entry).replace("\\", "/").split("/") if part not in ("", "."))
    if not parts or any(part == ".." or ":" in part or "\0" in part for part in parts):
        raise ValueError("its name leads elsewhere")
    if len(parts) > DEPTH_LIMIT or any(len(part) > NAME_LIMIT for part in parts):
        raise ValueError("its name is too long")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ValueError("it is a link or a device")
    return parts
