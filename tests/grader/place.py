"""What of the place may be at fault when a submission fails: the clock, memory, processes, the disk.
That is never told as its own.
"""

import sys
import tempfile

from grader.files import PLACE_ERRORS
from grader.intake.handout import ORIGINALS, originals
from grader.line.process import NOT_STARTED

ROOM_LIMIT = 1 << 18  # bytes that a worker may need for its temporary files
SIGNS = (
    NOT_STARTED,
    "it ran longer than",
    "it did not load within",
    "did not start within",
    "(signal ",
    "MemoryError",
    "can't start new thread",
    *(f"[Errno {number}]" for number in PLACE_ERRORS),
)  # in what a failure says
SIGNS_ELSEWHERE = ("its process ended by itself", "its process closed the line")


class PlaceError(Exception):
    """Nobody can be graded here; the message says why."""


def may_be_the_place(submission, elsewhere=False):
    """Return whether a submission of a result may have failed for what others did at the same time,
    or for a want of the place.

    elsewhere: a client such as ssh or srun stands before the interpreter;
    it ends too when its connection or its job does.
    """
    failures = [mark["failure"] for mark in submission["marks"] if mark["failure"]]
    texts = [submission["reason"], *(failure[field] for failure in failures for field in ("reason", "got"))]
    signs = (*SIGNS, *SIGNS_ELSEWHERE) if elsewhere else SIGNS
    return any(sign in text for text in filter(None, texts) for sign in signs)


def check_python():
    """PlaceError where the interpreter cannot grade."""
    if sys.flags.optimize > 1:
        raise PlaceError(
            "this Python drops docstrings (-OO, PYTHONOPTIMIZE), and those of the tests are the contract: "
            "run it without"
        )


def check_kit():
    """PlaceError where the kit is not whole: without what was handed out, a right submission would fail."""
    try:
        originals()
    except (OSError, ValueError, RecursionError) as error:
        raise PlaceError(
            f"this kit is damaged, get it anew: {ORIGINALS}: {getattr(error, 'strerror', None) or error}"
        ) from error


def check_room():
    """PlaceError where a worker could not write its files."""
    try:
        with tempfile.TemporaryFile() as file:
            file.write(bytes(ROOM_LIMIT))
    except OSError as error:
        raise PlaceError(
            f"no temporary files can be written ({error.strerror}): make room, or set TMPDIR to a folder with some"
        ) from error
