"""The protocol of the line: what the two ends say to each other, one JSON object per line, and the limits of that.

The near end is the grader, the far end a worker, with the submission inside it. The near end speaks, the far end
answers; while a call runs, the far end may ask for a function that it was given. Both ends read with `fields_of`, so a
message is one of those in these two tables, with just these fields, or it is Malformed. Every line of the far end may
also carry `printed`: [text, number of bytes left out], what the submission has printed since the last line.

This file imports nothing of the kit: a worker gets it over the line, with its own source behind it.
"""

import json

NONE = type(None)

FROM_NEAR = {  # kind: its fields, each with the types that it may have
    "load": {"module": (str,), "sources": (dict,), "errors": (dict,), "memory": (int,), "seconds": (int,)},
    "call": {"name": (str,), "args": (list,), "kwargs": (dict,)},
    "calls": {"name": (str,), "calls": (list,)},  # [[args, kwargs], ...]: calls that come next, each answered like one
    "main": {"argv": (list,), "files": (dict,), "encoding": (str,)},  # files: {path with /: text}
    "answer": {"value": ()},  # what the function gave; () is any type
    "end": {},  # the iterator has no more items
    "failure": {"number": (int,), "class": (str,), "builtin": (str,), "args": (list,)},  # the function raised this
}
FROM_FAR = {
    "ready": {"closed_in": (list,), "why_not": (str,)},  # unasked: it has started; what for it has closed itself in
    "loaded": {"functions": (list,), "errors": (list,)},  # names; errors: those that are as they were handed out
    "returned": {"value": ()},
    "raised": {  # names of the class, of the nearest exceptions of the lab and of Python; same: the number of a failure
        "class": (str,), "lab": (str, NONE), "builtin": (str,), "same": (int, NONE),
        "message": (str,), "place": (list, NONE),  # [file, line number]
    },
    "ask": {"number": (int,), "args": (list,), "kwargs": (dict,)},  # call the function of that number
    "asked": {"number": (int,), "args": (list,), "kwargs": (dict,)},  # its reply had come with the call
    "next": {"number": (int,)},  # take an item of the iterator of that number
}  # fmt: skip
OUTCOMES = ("returned", "raised", "ask", "asked", "next")
ANSWERS = {  # what may follow; nothing else is due
    None: ("ready",),
    "load": ("loaded", "raised"),
    **dict.fromkeys(("call", "calls", "main", "answer", "end", "failure"), OUTCOMES),
    **dict.fromkeys(("ask", "next"), ("answer", "end", "failure")),
}
VALUES = {"value", "args", "kwargs", "calls"}  # fields whose content encode has made; all else is plain JSON

MESSAGE_LIMIT = 1 << 20  # bytes of one line from the far end
OUTPUT_LIMIT = 1 << 16  # bytes that the submission prints that are kept for each line
DEPTH_LIMIT = 100  # containers inside one another that cross the line
TEXT_LIMIT = 4096  # characters of an exception's message
NAME_LIMIT = 80  # characters of a class's name that are shown
DIGITS_LIMIT = 4000  # hexadecimal digits of an integer: older Pythons take very long to show more
KEYS_LIMIT = 200  # keys of one dict or set that are not texts: numbers can be chosen to collide in a hash table
NAMES_LIMIT = 5000  # names of functions in the submission's module

PLAIN_TYPES = {kind.__name__: kind for kind in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset, NONE)}
CONTENT_TYPES = (str, int, float, bytes, list, dict, tuple, set, frozenset)  # what is built on them crosses as content
ATOMS, ONLY_TEXTS = {str, bool, NONE}, {str}  # types whose values cross as they are, and the type of most keys


class Malformed(Exception):
    """A line is not what the protocol allows."""


class TooLarge(Exception):
    """A value does not fit into one line."""


# ---- messages. A text crosses as it is, not in \u escapes: two halves of a surrogate pair must stay two characters.


def line_of(kind, *contents, **more):
    """Return the bytes of a message: its kind, and the contents of its fields in the order of the table."""
    fields = FROM_NEAR[kind] if kind in FROM_NEAR else FROM_FAR[kind]
    text = ENCODER.encode({"kind": kind, **dict(zip(fields, contents)), **more})
    return text.encode("utf-8", "surrogatepass") + b"\n"


def fields_of(line, decoder, table, due, decode=None):
    """Return (kind, fields) of a message of this table; Malformed unless its kind is due and its fields are right.

    decode makes the values of what crossed, where the decoder has not done that already.
    """
    try:
        text = line.decode("utf-8", "surrogatepass")
        message, end = decoder.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{ascii(line[:60].decode('latin-1'))}: {error}") from error
    if end != len(text):
        raise Malformed("more than one JSON value in a line")
    kind = message.pop("kind", None) if type(message) is dict else None
    if type(kind) is not str or kind not in due:
        raise Malformed("a line of another kind than is due now")
    fields = table[kind]
    if decode and not VALUES.isdisjoint(fields):
        message.update({name: decode(message[name]) for name in VALUES.intersection(message)})
    if len(message) != len(fields) + ("printed" in message):
        raise Malformed(f"{kind}: not the fields that it has")
    for name, kinds in fields.items():
        if name not in message or (kinds and type(message[name]) not in kinds):
            raise Malformed(f"{kind}: {name} is not what it should be")
    if "printed" in message and not is_printed(message["printed"]):
        raise Malformed(f"{kind}: printed is not what it should be")
    return kind, message


def is_printed(value):
    """Return whether a value can be what a submission has printed: [text, number of bytes that were left out]."""
    return type(value) is list and list(map(type, value)) == [str, int] and value[1] >= 0


def small_int(digits):
    """Return the integer of a line; encode writes longer ones in another way."""
    if len(digits) > 20:
        raise Malformed("an integer with too many digits")
    return int(digits)


def no_key_twice(pairs):
    """Return a dict of the pairs; a key given twice is refused, as in a reply of a model."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise Malformed("a key is given twice")
    return record


def no_constant(name):
    raise Malformed(f"{name} is not JSON")


COMPACT = (",", ":")
ENCODER = json.JSONEncoder(check_circular=False, ensure_ascii=False, separators=COMPACT)  # encode has bounded the depth
STRICT_DECODER = json.JSONDecoder(object_pairs_hook=no_key_twice, parse_int=small_int, parse_constant=no_constant)


# ---- values. What JSON has crosses as JSON: None, bool, str, finite float, small int, list, and dict with texts as
# keys. All else is {"$tag": content}; so is a dict that looks like that.


class Opaque:
    """Stands for a value that cannot cross: it equals nothing, itself included."""

    def __init__(self, name):
        self.name = name

    __hash__ = object.__hash__  # it may be a key all the same

    def __eq__(self, other):
        return False

    def __repr__(self):
        return f"<{self.name}>"


def encode(value, number_of=None, depth=0):
    """Return value as JSON can carry it. A subclass is worth its content: its own __eq__ or __str__ stays behind.

    number_of(callable or iterator) gives the number as which it crosses, and a list of the replies that go along: what
    it gives next, whatever it is asked. Without number_of these, and types, do not cross.
    """
    kind = type(value)
    if kind in ATOMS:  # the most frequent come first
        return value
    if kind is list and depth < DEPTH_LIMIT:
        return [item if type(item) in ATOMS else encode(item, number_of, depth + 1) for item in value]
    if kind is dict and depth < DEPTH_LIMIT and ONLY_TEXTS.issuperset(map(type, value)) and not looks_tagged(value):
        return {
            key: item if type(item) in ATOMS else encode(item, number_of, depth + 1) for key, item in value.items()
        }
    if not issubclass(kind, CONTENT_TYPES):
        return encode_by_name(value, kind, number_of)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return encode_int(int.__int__(value))
    if issubclass(kind, float):
        plain = float.__float__(value)
        return plain if plain - plain == 0 else {"$float": float.__repr__(plain)}
    if issubclass(kind, bytes):
        return {"$bytes": bytes.hex(value)}
    if depth == DEPTH_LIMIT:
        return {"$opaque": "a value nested too deep"}
    return encode_container(kind, value, number_of, depth + 1)


def encode_by_name(value, kind, number_of):
    """Return what stands for a type, a callable or an iterator, or for what cannot cross."""
    if number_of is None:
        return {"$opaque": f"a value of the type {kind.__name__[:NAME_LIMIT]}"}
    if kind is type and PLAIN_TYPES.get(value.__name__) is value:
        return {"$type": value.__name__}
    if callable(value) or hasattr(kind, "__next__"):
        tag = "$next" if hasattr(kind, "__next__") else "$callable"
        number, replies = number_of(value)
        return {tag: [number, getattr(value, "__name__", kind.__name__), replies]}
    return {"$opaque": f"a value of the type {kind.__name__}"}


def looks_tagged(record):
    """Return whether a dict with texts as keys has just one, and it begins with $."""
    return dict.__len__(record) == 1 and next(dict.__iter__(record))[:1] == "$"


def encode_container(kind, value, number_of, depth):
    if issubclass(kind, dict):
        pairs = [(key, encode(item, number_of, depth)) for key, item in dict.items(value)]
        if all(type(key) is str for key, _ in pairs) and not looks_tagged(value):
            return dict(pairs)
        return {"$dict": [[encode(key, number_of, depth), item] for key, item in pairs]}
    plain = next(plain for plain in (list, tuple, set, frozenset) if issubclass(kind, plain))
    items = [encode(item, number_of, depth) for item in plain.__iter__(value)]
    return items if plain is list else {f"${plain.__name__}": items}


def encode_int(number):
    if -(1 << 63) < number < 1 << 63:
        return number
    if int.bit_length(number) > 4 * DIGITS_LIMIT - 16:
        return {"$opaque": f"an integer of {int.bit_length(number)} bits"}
    return {"$int": hex(number)}


def decode(value, depth=0):
    """Return what encode was given; Malformed for what stands for no value."""
    kind = type(value)
    if kind in ATOMS or kind is int or kind is float:
        return value
    if depth > DEPTH_LIMIT:
        raise Malformed("a value is nested too deep")
    if kind is list:
        return [item if type(item) in ATOMS else decode(item, depth + 1) for item in value]
    if not looks_tagged(value):
        return {key: item if type(item) in ATOMS else decode(item, depth + 1) for key, item in value.items()}
    ((tag, content),) = value.items()
    if type(content) is list:
        inner = depth if tag == "$dict" else depth + 1  # a pair is not a level of its own
        content = [decode(item, inner) for item in content]
    return untag(tag, content)


def untag(tag, content, made_for=None):
    """Return the value of {tag: content}, whose content is decoded already; Malformed when it stands for none.

    made_for(tag, content) makes what only the near end may send: a stand-in for a callable or iterator, or a type.
    """
    if made_for is not None and tag in ("$callable", "$next", "$type"):
        return made_for(tag, content)
    if type(content) is str:
        return untag_text(tag, content)
    if type(content) is not list:
        raise Malformed(f"{tag[:40]!r}: neither a text nor a list")
    if tag == "$dict":
        if not all(type(pair) is list and len(pair) == 2 for pair in content):
            raise Malformed("$dict: a pair is missing")
        return hashed(dict, content, [key for key, _ in content])
    if tag == "$tuple":
        return tuple(content)
    if tag == "$set" or tag == "$frozenset":
        return hashed(PLAIN_TYPES[tag[1:]], content, content)
    raise Malformed(f"unknown tag {tag[:40]!r}")


def untag_text(tag, content):
    """Return the value of a tag that carries a text."""
    try:
        if tag == "$int" and len(content) <= DIGITS_LIMIT:
            return int(content, 16)
        if tag == "$float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if tag == "$bytes":
            return bytes.fromhex(content)
        if tag == "$opaque":
            return Opaque(content[:TEXT_LIMIT])
    except ValueError as error:
        raise Malformed(f"{tag}: {content[:40]!r}") from error
    raise Malformed(f"{tag[:40]!r}: {content[:40]!r}")


def hashed(kind, items, keys):
    """Return a dict, set or frozenset of items; Malformed for a key given twice, and for too many that may collide."""
    if sum(type(key) is not str for key in keys) > KEYS_LIMIT:
        raise Malformed(f"{kind.__name__}: more than {KEYS_LIMIT} keys that are not texts")
    try:
        made = kind(items)
    except TypeError as error:  # a list cannot be a key
        raise Malformed(f"{kind.__name__}: {error}") from error
    if len(made) != len(items):
        raise Malformed(f"{kind.__name__}: a key is given twice")
    return made
