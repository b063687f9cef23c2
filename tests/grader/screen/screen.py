"""What a person sees: a Report as lines of text, for any terminal, pipe, width and encoding.

Nothing is told by colour or symbol alone: each line says in words or numbers what its marks say.
"""

import os
import re
import shutil
import sys
import time
import unicodedata

from grader.intake.sources import MAIN_LAB
from grader.result import FAILED, NOT_RUN, PASSED, SYMBOLS, WAITING, told, verdicts_by_clause
from grader.text import visible

ASCII_SYMBOLS = {PASSED: "+", FAILED: "x", WAITING: ".", NOT_RUN: "?"}
COLOURS = {PASSED: "32", FAILED: "31", WAITING: "2", NOT_RUN: "33"}
LABEL_WIDTH = 10
PRINTED_LINES = 12  # of what the submission printed, the last ones
KEYS = "Watching. Press h for a hint, a for all failures, q to quit."


def width_of(text):
    """Return the columns that a text takes on a terminal: a Chinese character takes two, a combining mark none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)


def fold(text, columns):
    """Return text as lines of at most so many columns, broken at blanks, and inside a word that is too long."""
    lines, line = [], ""
    for part in re.findall(r"\s+|[^\s]+", text):
        if width_of(line + part) > columns and line.strip():
            lines.append(line.rstrip())
            line, part = "", part.lstrip()
        for char in part if width_of(part) > columns else [part]:
            if width_of(line + char) > columns:
                lines.append(line)
                line = ""
            line += char
    return lines + [line.rstrip()] if line.strip() or not lines else lines


def fitted(text, columns, ellipsis="\u2026"):
    """Return text in at most so many columns, its end replaced by an ellipsis when it is longer."""
    if width_of(text) <= columns:
        return text
    while width_of(text) > columns - len(ellipsis):
        text = text[:-1]
    return text.rstrip() + ellipsis


class Screen:
    """A stream with what it can show: width in columns, colour, the better symbols, moving the cursor."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        if hasattr(self.stream, "reconfigure"):
            self.stream.reconfigure(errors="backslashreplace")
        terminal = self.stream.isatty()
        self.width = max(40, min(100, shutil.get_terminal_size((100, 24)).columns if terminal else 100))
        self.height = shutil.get_terminal_size((100, 24)).lines if terminal else 0  # in lines; 0: it has no end
        self.moves = terminal and os.environ.get("TERM") != "dumb" and enable_escapes()
        self.colour = self.moves and not os.environ.get("NO_COLOR")
        self.symbols = SYMBOLS if self.shows("".join(SYMBOLS.values())) else ASCII_SYMBOLS

    def shows(self, text):
        try:
            text.encode(self.stream.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def paint(self, text, colour):
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour else text

    def mark(self, verdict):
        return self.paint(self.symbols[verdict], COLOURS[verdict])

    def wrap(self, label, text):
        """Return lines of a label and a text beside it, no wider than the screen."""
        rows = fold(visible(text), self.width - LABEL_WIDTH - 2)
        return [f"  {label:<{LABEL_WIDTH}}{rows[0]}"] + [" " * (LABEL_WIDTH + 2) + row for row in rows[1:]]

    def paragraph(self, text):
        return fold(visible(text), self.width)

    def clear(self):
        """Empty the screen where the terminal can: what comes next is drawn in its place."""
        if self.moves:
            self.stream.write("\x1b[2J\x1b[H")

    def show(self, lines):
        self.stream.write("\n".join(lines) + "\n")
        self.stream.flush()


def enable_escapes():
    """Return whether the terminal obeys escape sequences; a Windows console is asked to."""
    if os.name != "nt":
        return True
    import ctypes

    kernel = ctypes.windll.kernel32
    handle, mode = kernel.GetStdHandle(-11), ctypes.c_ulong()
    return bool(kernel.GetConsoleMode(handle, ctypes.byref(mode)) and kernel.SetConsoleMode(handle, mode.value | 4))


# ---- the parts of a report


def report_lines(report, screen, every=False, hint=False):
    """Return what a student sees: a line a function, then the first failure (or every one), then the count."""
    lines = [screen.paint(visible(report.path.as_posix()), "1"), ""]
    for note in report.notes:
        lines += [*screen.paragraph(f"Note: {note}"), ""]
    if report.load_failure:
        lines += load_lines(report, screen)
    else:
        lines += function_lines(report, screen)
        shown = sorted((mark for mark in report.marks if mark.verdict != PASSED), key=lambda mark: not wanted(mark))
        for mark in shown if every else shown[:1]:
            lines += ["", *mark_lines(report, mark, screen, every, hint)]
    return lines + ["", screen.paint(passed_line(report), COLOURS[PASSED if report.complete else FAILED])]


def next_lines(report, task):
    """Return what to look at when all tests have passed.
    task: the text of TASK.md, which names the labs in their order.
    """
    lab, path = report.lab, report.path.as_posix()
    labs = list(dict.fromkeys([MAIN_LAB, *re.findall(r"\(scenario/(\w+)/TASK\.md\)", task)]))
    lines = [
        f"Next: python {path} scenario/{lab}   (your code at work)",
        f"What you see there, and why: After fifteen, in {report.task}",
    ]
    after = labs[labs.index(lab) + 1] if lab in labs[:-1] else None
    return lines + (
        [f"Then: python verify.py starter/{after}.py   (the next lab; see scenario/{after}/TASK.md)"] if after else []
    )


def wanted(mark):
    """Return whether a mark has a failure of the clause that -k names."""
    return mark.wanted is not None and any(failure.clause == mark.wanted for failure in mark.failures)


def passed_line(report):
    """Return how many tests passed, and the seed that repeats the run."""
    again = f" (with other names and numbers: --seed {report.seed} repeats it)" if report.seed else ""
    return f"{report.passed} of {len(report.marks)} passed{again}"


def count_line(report):
    return f"{passed_line(report)}, {report.load_failure.reason}" if report.load_failure else passed_line(report)


def function_lines(report, screen):
    """Return one line per function: how many of its tests passed, a mark for each clause,
    and whether it is written yet.
    """
    for label, gap in (("{} ", "  "), ("{}", " "), ("", "")):
        lines = lay_out(report, screen, label, gap)
        if max(map(width_of, map(unpainted, lines)), default=0) <= screen.width:
            break
    return lines


def lay_out(report, screen, label, gap):
    """Return the lines of the functions with such a label before each mark, and such a gap between marks."""
    marks = verdicts_by_clause(report.marks)
    width, longest = max(map(len, marks), default=0), max(map(len, marks.values()), default=0)
    words = max((len(label.format(clause)) for verdicts in marks.values() for clause in verdicts), default=0)
    lines = []
    for name, verdicts in marks.items():
        tests = [mark.verdict for mark in report.marks if mark.function == name]
        symbols = gap.join(label.format(clause) + screen.mark(verdict) for clause, verdict in verdicts.items())
        room = " " * ((words + 1 + len(gap)) * (longest - len(verdicts)))
        remark = "not written yet" if name in report.unwritten else "waiting" if WAITING in tests else ""
        lines.append(
            f"  {name:<{width}}  {tests.count(PASSED)} of {len(tests)}   {symbols}{room}{gap or ' '} {remark}".rstrip()
        )
    return lines


def unpainted(line):
    return re.sub("\x1b\\[[0-9]*m", "", line)


def load_lines(report, screen):
    """Return why a submission does not load, with its own line."""
    reason = report.load_failure.reason
    lines = screen.paragraph(reason if reason.startswith(report.path.name) else f"{report.path.name}: {reason}")
    place = report.load_failure.place
    return lines + (screen.wrap("at", report.source_line(*place)) if place else [])


def mark_lines(report, mark, screen, every=False, hint=False):
    """Return the failure of one test: clause, call, expected, got, why, at, and what the submission printed."""
    lines = []
    first = next(other for other in report.marks if other.function == mark.function)
    if mark.function in report.unwritten and mark is first:
        lines += screen.paragraph(f"Next: {mark.function} is not written yet ({report.definition(mark.function)}).")
    every = every and mark.verdict != WAITING
    failures = report.failures(mark, every)
    for number, alike in mark.traps() if every else [(0, 1)]:
        lines += [""] if lines else []
        lines += screen.paragraph(f"{report.task} {failures[number]['clause']}: {failures[number]['sentence']}")
        lines += screen.wrap("test", mark.name) if mark.wanted else []
        for label, text in told(failures[number], mark.verdict):
            lines += screen.wrap(label, text)
        lines += (
            screen.wrap("more", f"{alike - 1} {'other fails' if alike == 2 else 'others fail'} in the same way")
            if alike > 1
            else []
        )
    first = mark.failures[0] if mark.failures else None
    lines += printed_lines(first.printed if first and first.call else mark.printed, screen)
    hint = hint and mark.failures and mark.hint_of(mark.failures[0])
    if hint:
        lines += screen.wrap("hint", hint)
    return lines


def printed_lines(printed, screen):
    """Return the last lines that the submission printed in a test, and how much was dropped."""
    rows = "".join(text for text, _ in printed).splitlines()
    dropped = sum(count for _, count in printed)
    shown = [visible(row) for row in rows[-PRINTED_LINES:]]
    if len(rows) > PRINTED_LINES:
        shown.insert(0, f"(the last {PRINTED_LINES} of {len(rows)} lines)")
    if dropped:
        shown.append(f"({dropped:,} more bytes were dropped)")
    label = "printed"
    lines = []
    for row in shown:
        lines.append(fold(f"  {label:<{LABEL_WIDTH}}| {row}", screen.width)[0])
        label = ""
    return lines


def watch_lines(report, screen, every=False, hint=False):
    """Return a report for --watch: with a bar, and the keys where they can be pressed."""
    bar = progress_bar(report.passed, len(report.marks))
    lines = report_lines(report, screen, every, hint)
    end = lines[-1:] + [screen.paint(bar, COLOURS[PASSED if report.complete else FAILED])]
    end.append(KEYS if sys.stdin is not None and sys.stdin.isatty() else "Watching. Press Ctrl-C to quit.")
    return (
        fitting(
            lines[:-1],
            screen.height - len(end) - 1,
            f"python verify.py {report.path.as_posix()}{' --all' if every else ''}",
        )
        + end
    )


def fitting(lines, room, command):
    """Return the first lines that a screen has room for, and how to see the others; all without a screen."""
    if len(lines) <= room or room < 4:
        return lines
    return [*lines[: room - 2], f"... {len(lines) - room + 2} more lines: {command} shows them", ""]


def progress_bar(done, total, width=30):
    """Return a bar such as [#####.....] 5/10."""
    filled = width * done // max(total, 1)
    return f"[{'#' * filled}{'.' * (width - filled)}] {done}/{total}"


class Progress:
    """A line on stderr with a bar, the rate and the time left; only on a terminal, and only when it takes a while."""

    def __init__(self, what, patience=0.0):
        self.stream, self.what = sys.stderr, what
        self.begun, self.drawn, self.done, self.total = time.monotonic(), False, 0, 0
        self.patience = patience if self.stream.isatty() else float("inf")

    def __call__(self, done, total):
        if done == 0:  # it begins, and with --watch again
            self.begun = time.monotonic()
        if time.monotonic() - self.begun < self.patience:
            return
        rate = done / max(time.monotonic() - self.begun, 1e-6)
        left = (total - done) / rate if done else 0.0
        text = (
            f"{progress_bar(done, total)}  {rate:.1f} {self.what} a second, {left:.0f} s left"
            if done
            else progress_bar(done, total) if total else f"Running the {self.what} ..."
        )
        self.done, self.total = done, total
        self.draw(text)

    def waits_for(self, names):
        """Say whose submissions hold it up, in the place of the time left, which nobody knows then."""
        if time.monotonic() - self.begun >= self.patience:
            self.draw(f"{progress_bar(self.done, self.total, 10)}  waiting for {visible(', '.join(names))}")

    def draw(self, text):
        """Put a text in the place of the last one, cut by width."""
        columns = min(shutil.get_terminal_size().columns, 79) - 1
        text = fitted(text, columns, "...")
        self.stream.write(f"\r{text}{' ' * (columns - width_of(text))}")
        self.stream.flush()
        self.drawn = True

    def clear(self):
        """Take the line away."""
        if self.drawn:
            self.stream.write("\r" + " " * (min(shutil.get_terminal_size().columns, 79) - 1) + "\r")
            self.stream.flush()
