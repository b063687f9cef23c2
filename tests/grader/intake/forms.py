"""The form of a submission: what is left without comments, docstrings, blanks,
its own names and the order of functions.

Submissions of one form say the same. The text is a stranger's: a scanner reads it once from the start to the end, and
nothing parses it.
"""

import builtins
import hashlib
import keyword
import re

FORM_LIMIT = 64 * 1024  # characters of a source; the form of a longer one is not looked for
KEPT = {*keyword.kwlist, *dir(builtins), "match", "case", "self", "cls"}  # names that nobody renames
# no alternative can fail after a long look: a string without an end goes to the end of its line, or of the source
TOKEN = re.compile(
    r"(?P<blank>[ \t\f]+|\\\n)|(?P<comment>#[^\n]*)|(?P<newline>\n)"
    r"|(?P<long>[a-zA-Z]{0,2}(?:\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*(?:\"{3})?|'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3})?))"
    r"|(?P<string>[a-zA-Z]{0,2}(?:\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?))"
    r"|(?P<number>[0-9][\w.]*)|(?P<name>\.?\w+)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<other>.)", re.DOTALL)
FIELD = re.compile(r"\{[^{}]*\}")  # of a formatted string
NAME = re.compile(r"[.!:]?[^\W\d]\w*")  # an attribute, !r and :d keep theirs


def form_of(source):
    """Return the digest of a source's form; "" of one that is empty or too long."""
    if len(source) > FORM_LIMIT:
        return ""
    statements = [digest for digest in map(form_of_statement, statements_of(source)) if digest]
    return hashlib.sha256("\n".join(sorted(statements)).encode("ascii")).hexdigest() if statements else ""


def statements_of(source):
    """Yield the lines of each top-level statement of a source; a line is (width of its indentation, [(kind, text)])."""
    statement = []
    for width, tokens in lines_of(source):
        first = tokens[0][1]
        goes_on = first in ("else", "elif", "except", "finally") or (statement and statement[-1][1][0][1] == "@")
        if statement and width == 0 and not goes_on:
            yield statement
            statement = []
        statement.append((width, tokens))
    if statement:
        yield statement


def lines_of(source):
    """Yield (width of the indentation, [(kind, text)]) of each logical line but for comments and docstrings."""
    tokens, width, depth = [], 0, 0
    for match in TOKEN.finditer(source):
        kind, text = match.lastgroup, match[0]
        if kind == "newline" and not depth:
            if tokens and [each for each, _ in tokens] not in (["string"], ["long"]):
                yield width, tokens
            tokens, width = [], 0
        elif kind == "blank":
            width += len(text) if not tokens else 0
        elif kind not in ("newline", "comment"):
            depth = max(0, depth + (kind == "open") - (kind == "close"))
            tokens.append((kind, text))
    if tokens:
        yield width, tokens


def form_of_statement(lines):
    """Return the digest of a statement: own names become numbers, indentation becomes depth, quotes are alike."""
    numbers, depths, said = {}, [0], []

    def own(name):
        return name if name in KEPT or name[0] in ".!:" else str(numbers.setdefault(name, len(numbers)))

    for width, tokens in lines:
        while width < depths[-1]:
            depths.pop()
        if width > depths[-1]:
            depths.append(width)
        said.append(f"\n{len(depths)}")
        for kind, text in tokens:
            if kind == "name":
                text = own(text)
            elif kind in ("string", "long"):
                kind = "string"
                prefix, quote, rest = text.partition("'" if text.endswith("'") else '"')
                text = rest.rstrip(quote)
                if "f" in prefix.lower():
                    text = FIELD.sub(lambda field: NAME.sub(lambda match: own(match[0]), field[0]), text)
            said.append(f"{kind[0]}{text}")
    return hashlib.sha256("\0".join(said).encode("utf-8", "surrogatepass")).hexdigest()
