"""A sheet that a platform exported as CSV: who is in it, and where each of its cells is.

It goes back as it came, character by character, but for the cells that are filled.
"""

import codecs
import collections
import re
from pathlib import Path

from grader.intake.targets import UsageError

SIZE_LIMIT = 16 * 1024 * 1024  # bytes of a sheet
SEPARATORS = ",;\t"
SHOWN = 6  # heads of columns in a message
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

Cell = collections.namedtuple("Cell", "value start end")
# the characters of the text from start to end are the cell's, with its quotes


class Sheet:
    """A CSV: its heads, and rows of Cells below them."""

    def __init__(self, path):
        """Read it; UsageError says why it cannot be read."""
        self.path = Path(path)
        self.mark, self.encoding, self.text = read_text(self.path)
        start = len(re.match(r"(?:sep=.[\r\n]+)?\s*", self.text)[0])  # what Excel writes above the heads
        end = re.compile(r"[\r\n]|$").search(self.text, start).start()
        self.separator = max(SEPARATORS, key=lambda each: self.text.count(each, start, end))
        try:
            self.rows = list(rows_of_text(self.text, self.separator, start))
        except ValueError as error:
            raise UsageError(f"{self.path}: {error}") from error
        self.heads = [cell.value.strip() for cell in self.rows.pop(0)] if self.rows else []
        if len(self.heads) < 2 and not self.rows:
            raise UsageError(f"{self.path}: expected a CSV with a row of heads and one row per student")

    def columns(self, heads):
        """Return the places of the columns that have one of these heads, in any case."""
        return [place for place, head in enumerate(self.heads) if head.casefold() in heads]

    def value(self, row, column):
        """Return the text of a cell, "" where a row is too short."""
        cells = self.rows[row]
        return cells[column].value.strip() if 0 <= column < len(cells) else ""

    def filled(self, texts):
        """Return the bytes of the sheet with {(row, column): text} in these cells, all else as it came."""
        pieces, place = [], 0
        for row, column in sorted(texts):
            cell = self.rows[row][column]
            pieces += [self.text[place : cell.start], texts[row, column]]
            place = cell.end
        return self.mark + "".join([*pieces, self.text[place:]]).encode(self.encoding)

    def some_heads(self, columns):
        """Return the heads of the first few of these columns as a text."""
        shown = ", ".join(repr(self.heads[column]) for column in columns[:SHOWN])
        return shown + (", ..." if len(columns) > SHOWN else "")


def read_text(path):
    """Return (bytes of a mark at its start, encoding, text) of a sheet; UsageError says why it cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    if len(data) > SIZE_LIMIT:
        raise UsageError(f"{path}: it has more than {SIZE_LIMIT:,} bytes")
    if data[:2] == b"PK":
        raise UsageError(f"{path}: this is an Excel workbook: save it as CSV")
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    for encoding in [MARKS[mark]] if mark else ["utf-8", "cp1252"]:
        try:
            return mark, encoding, data[len(mark) :].decode(encoding)
        except UnicodeDecodeError as error:
            fault = error
    raise UsageError(f"{path}: it is not UTF-8 text: {fault}. Save it as CSV UTF-8.")


def rows_of_text(text, separator, place=0):
    """Yield the rows of a CSV text as lists of Cells, blank lines left out.

    ValueError names the line of a quote that has no end.
    """
    ends, row = re.compile(f"[{separator}\r\n]"), []
    while place < len(text) or row:
        start, value = place, ""
        if text.startswith('"', place):
            value, place = quoted(text, place)
        match = ends.search(text, place)
        end = match.start() if match else len(text)
        row.append(Cell(value + text[place:end], start, end))
        place = end + 1
        if match and match[0] == separator:
            continue
        if len(row) > 1 or row[0].value:
            yield row
        row = []
        if match and match[0] == "\r" and text.startswith("\n", place):
            place += 1


def quoted(text, start):
    """Return (value, place behind it) of a cell that begins with a quote; two quotes inside are one."""
    place = start + 1
    while True:
        end = text.find('"', place)
        if end < 0:
            raise ValueError(f"the quote in line {text.count(chr(10), 0, start) + 1} has no end")
        if not text.startswith('""', end):
            return text[start + 1 : end].replace('""', '"'), end + 1
        place = end + 2
