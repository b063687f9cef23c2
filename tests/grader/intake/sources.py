"""The files of a submission: which lab they are of, and their texts. They are a stranger's, so every reading is bounded."""

import codecs
import re
import stat
from pathlib import Path

from grader.intake.handout import KIT, originals

LABS = sorted(test.stem[len("test_") :] for test in (KIT / "tests").glob("test_*.py"))
MAIN_LAB = "ticket_triage"  # what is meant where nothing is said; the other labs import it
RESUBMITTED = re.compile(r"-\d+$")  # a learning platform adds -1, -2 to a file that was sent again
SOURCE_LIMIT = 1024 * 1024  # bytes of one source file
SIBLINGS_LIMIT = 100  # files beside the submission that go along
ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso8859-1", "iso8859-15", "cp1252")  # others can take for ever to decode


class Unreadable(Exception):
    """The file of a submission cannot be taken; the message says why."""


def lab_of(path):
    """Return the lab that a file is a submission of (anna_lee_123_ticket_triage-1.py is one of ticket_triage), or None."""
    stem = RESUBMITTED.sub("", path.stem)
    matching = [lab for lab in LABS if stem == lab or stem.endswith(f"_{lab}")]
    return max(matching, key=len, default=None)


def read_sources(path, lab):
    """Return {module name: text} of the submission and, when it has its usual name, of the files beside it.

    Unreadable says why the submission cannot be taken. A file beside it that cannot be read fails when it is imported.
    """
    sources = {lab: read_source(path)}
    if path.name == f"{lab}.py":
        siblings = [sibling for sibling in path.parent.glob("*.py") if sibling.stem.isidentifier() and sibling.stem != lab]
        for sibling in sorted(siblings)[:SIBLINGS_LIMIT]:
            try:
                sources[sibling.stem] = read_source(sibling)
            except Unreadable as error:
                sources[sibling.stem] = f"raise ImportError({str(error)!r})"
    if MAIN_LAB not in sources:  # the other labs use what it provides
        sources[MAIN_LAB] = originals()["starter"][f"{MAIN_LAB}.py"]["text"]
    return sources


def read_source(path):
    """Return a source file's text. A link is not followed: it could point to what its author may not read."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise Unreadable(f"{path.name} is a link: put the file itself there")
        if not stat.S_ISREG(mode):
            raise Unreadable(f"{path.name} is no file")
        with open(path, "rb") as file:
            data = file.read(SOURCE_LIMIT + 1)
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror}") from error
    if len(data) > SOURCE_LIMIT:
        raise Unreadable(f"{path.name} has more than {SOURCE_LIMIT:,} bytes")
    try:
        text = data.decode(source_encoding(data))
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise Unreadable(f"{path.name} is not UTF-8 text: {error}. Save it as UTF-8.") from error
    if not text.strip():
        raise Unreadable(f"{path.name} is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def source_encoding(data):
    """Return the encoding that a source file names in its first two lines, else UTF-8."""
    if not any(b"coding" in line for line in data.split(b"\n", 2)[:2]):
        return "utf-8-sig"
    import io
    import tokenize

    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    if codecs.lookup(encoding).name not in ENCODINGS:
        raise LookupError(f"its encoding is {encoding}")
    return encoding
