"""Runs the tests again at each save, and listens to keys in between. One thread, no busy waiting."""

import contextlib
import os
import sys
import time

PAUSE = 0.1  # seconds between two looks at the file
MISSING_LIMIT = 1.0  # seconds that an editor may take to put a saved file back


class Keys:
    """Single key presses without Enter, where the terminal allows; else none ever come."""

    def __enter__(self):
        self.restore = None
        self.usable = sys.stdin is not None and sys.stdin.isatty()
        if self.usable and os.name != "nt":
            import termios
            import tty

            self.descriptor = sys.stdin.fileno()
            saved = termios.tcgetattr(self.descriptor)
            self.restore = lambda: termios.tcsetattr(self.descriptor, termios.TCSADRAIN, saved)
            tty.setcbreak(self.descriptor)
        return self

    def __exit__(self, *_):
        if self.restore:
            self.restore()

    def wait(self, seconds):
        """Wait that long at most; return the key that was pressed, or ""."""
        if not self.usable:
            time.sleep(seconds)
            return ""
        if os.name == "nt":
            import msvcrt

            time.sleep(seconds)
            return msvcrt.getwch() if msvcrt.kbhit() else ""
        import select

        if select.select([self.descriptor], [], [], seconds)[0]:
            key = os.read(self.descriptor, 1).decode("ascii", "replace")
            self.usable = key != ""  # the terminal is gone
            return key
        return ""


def state_of(folder):
    """Return what tells one save from another: the time and the content of each Python file in the folder."""
    state = {}
    names = []
    with contextlib.suppress(OSError):  # a folder can be gone for a moment
        names = [name for name in sorted(os.listdir(folder)) if name.endswith(".py")]
    for name in names:
        with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as file:
            state[name] = (os.fstat(file.fileno()).st_mtime_ns, file.read())
    return state


def wait_for_save(path, before, keys):
    """Return ("save", state) once the file is saved again, or (key, before) once h, a or q is pressed."""
    missing_since = None
    while True:
        key = keys.wait(PAUSE).lower()
        if key in ("h", "a", "q", "\x04"):
            return key, before
        state = state_of(path.parent)
        if path.name not in state:  # an editor that replaces the file may be at work
            missing_since = missing_since or time.monotonic()
            if time.monotonic() - missing_since < MISSING_LIMIT:
                continue
        else:
            missing_since = None
        if state != before:
            return "save", state


class Saved(Exception):
    """The file was saved again while its tests ran."""


def grade_saved(path, grade, progress):
    """Grade path, and begin again when it is saved meanwhile; return its report and the state that it is of.

    grade(path, progress) calls progress(done, total) after each test; so does this, which looks at the file then.
    """

    def look(done, total):
        progress(done, total)
        now = state_of(path.parent)
        if done < total and path.name in now and now != state:
            raise Saved

    while True:
        state = state_of(path.parent)
        progress(0, 0)
        try:
            return grade(path, look), state
        except Saved:
            continue


def watch(path, grade, show, progress):
    """Grade path now and at each save until q or Ctrl-C. show(report, hint, every) draws one result.

    grade and progress: as in grade_saved.
    """
    hint = every = False
    with Keys() as keys:
        report, state = grade_saved(path, grade, progress)
        show(report, hint, every)
        while True:
            key, state = wait_for_save(path, state, keys)
            if key in ("q", "\x04"):
                return report
            hint = key == "h"
            every = key == "a"
            if key == "save":
                report, state = grade_saved(path, grade, progress)
            show(report, hint, every)
