"""The files of a submission: which lab they are of, and their texts.
They are a stranger's, so every reading is bounded.
"""

import codecs
import re
import stat

from grader.intake.handout import KIT, originals
from grader.intake.platforms import handed_in, is_of

LABS = sorted(test.stem[len("test_") :] for test in (KIT / "tests").glob("test_*.py"))
MAIN_LAB = "ticket_triage"  # what is meant where nothing is said; the other labs import it
SOURCE_LIMIT = 1024 * 1024  # bytes of one source file
SIBLINGS_LIMIT = 100  # files beside the submission that go along
SOURCES_LIMIT = 4 * SOURCE_LIMIT  # bytes of all these files together
HEAD_LIMIT = 400  # bytes of a line in which an encoding is looked for
CODING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]{1,40})")  # as Python finds it
BLANK = re.compile(rb"[ \t\f]*(#|$)")  # a first line after which the second may name an encoding
ENCODINGS = {  # as codecs.lookup names them; there are others that take very long to decode
    "ascii",
    "utf-8",
    "utf-8-sig",
    *(f"iso8859-{part}" for part in range(1, 17)),
    *(f"cp125{digit}" for digit in range(9)),
    "cp437",
    "cp850",
    "cp852",
    "cp866",
    "koi8-r",
    "koi8-u",
    "mac-roman",
    "mac-cyrillic",
    "gb2312",
    "gbk",
    "gb18030",
    "big5",
    "big5hkscs",
    "cp950",
    "shift_jis",
    "cp932",
    "euc_jp",
    "euc_kr",
    "cp949",
}


class Unreadable(Exception):
    """The file of a submission cannot be taken; the message says why."""


def lab_of(path):
    """Return the lab that a file is a submission of (anna_lee_123_ticket_triage-1.py is one of ticket_triage),
    or None.
    """
    return max((lab for lab in LABS if is_of(handed_in(path.name).file, lab)), key=len, default=None)


def read_sources(path, lab):
    """Return {module name: text} of the submission and, when it has its usual name, of the files beside it.

    Unreadable says why the submission cannot be taken. A file beside it that cannot be read fails when it is imported.
    """
    sources = {lab: read_source(path)}
    size = len(sources[lab].encode())
    if path.name == f"{lab}.py":
        siblings = [
            sibling for sibling in path.parent.glob("*.py") if sibling.stem.isidentifier() and sibling.stem != lab
        ]
        for sibling in sorted(siblings)[:SIBLINGS_LIMIT]:
            try:
                text = read_source(sibling)
                size += len(text.encode())
                if size > SOURCES_LIMIT:
                    raise Unreadable(
                        f"{sibling.name} is left out: the files together have more than {SOURCES_LIMIT:,} bytes"
                    )
            except Unreadable as error:
                text = f"raise ImportError({str(error)!r})"
            sources[sibling.stem] = text
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
            raise Unreadable(f"{path.name} is not a file")
        with open(path, "rb") as file:
            data = file.read(SOURCE_LIMIT + 1)
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror}") from error
    if len(data) > SOURCE_LIMIT:
        raise Unreadable(f"{path.name} has more than {SOURCE_LIMIT:,} bytes")
    try:
        text = data.decode(source_encoding(data))
    except (UnicodeDecodeError, LookupError) as error:
        raise Unreadable(f"{path.name} is not UTF-8 text: {error}. Save it as UTF-8.") from error
    if not text.strip():
        raise Unreadable(f"{path.name} is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def source_encoding(data):
    """Return the encoding that a source file names in its first two lines, else UTF-8;
    LookupError when it is none of ENCODINGS.
    """
    first, second = [line[:HEAD_LIMIT] for line in (data[: 2 * HEAD_LIMIT].splitlines() + [b"", b""])[:2]]
    is_utf_8 = first.startswith(codecs.BOM_UTF8)
    named = CODING.match(first[3:] if is_utf_8 else first) or (BLANK.match(first) and CODING.match(second))
    if not named:
        return "utf-8-sig"
    encoding = named[1].decode("ascii")
    name = codecs.lookup(encoding).name
    if name not in ENCODINGS or (is_utf_8 and name != "utf-8"):
        raise LookupError(f"its encoding is {encoding}")
    return "utf-8-sig" if is_utf_8 else name
