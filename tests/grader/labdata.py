"""The data of the tests: fresh words for each run, and texts that are one edit away from a valid reply.

A test module names its data when it is imported:

    CATEGORIES = fresh.names("billing", "delivery")       # categories, tools, parameters, ids
    TICKET = fresh.text("My parcel is late.")             # tickets, summaries, messages
    ORDER = fresh.number(1007)                            # numbers that no clause knows
    TASK = fresh.data({"title": "Mend the gate"})         # every text in nested data

At seed 0 each gives back what is written, so a test reads as it runs. At another seed each word is renamed, the
same word alike in every text of the run. The grader sets the seed before it imports the tests; whatever a submission
can read says nothing of it. What the contract names (fields, limits, its words) is written plainly, never as data.

`edits` makes texts that are one edit away from a valid reply, and `strict_json` says which of them are JSON.
LOOKS_BROKEN are texts that are right as they stand:
put them where a text is free, and expect them back letter by letter.
"""

import builtins
import json
import keyword
import random
import re
from functools import lru_cache

CONTRACT_WORDS = {  # that labs use: no made-up word is one of them
    *"true false null none nan infinity json data ticket tool arguments answer reply fallback".split(),
    *map(str.lower, keyword.kwlist), *map(str.lower, dir(builtins)),
}
PARTS = re.compile(r"<[^<>]*>|[^\W\d_]+|\d+")  # a tag, which stays; a word; digits
VOWELS, CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"


class Fresh:
    """Renames the data of the tests by a seed: an int; 0 leaves all as it is written."""

    def __init__(self, seed=0):
        self.begin(seed)

    def begin(self, seed):
        """Start a run with that seed: what was renamed before is forgotten."""
        self.seed, self.renamed = seed, {}

    def random(self, purpose):
        """Return a random.Random of this run's seed for one purpose (a text); seed 0 has one as well."""
        return random.Random(f"{self.seed} {purpose}")

    def name(self, name):
        """Return what stands for a name in this run: of the same length, case and punctuation."""
        return self.text(name)

    def names(self, *names):
        """Return a list of what stands for these names."""
        return [self.name(name) for name in names]

    def text(self, text):
        """Return text with each of its words and digits renamed; tags such as </ticket> stay."""
        if self.seed == 0:
            return text
        return PARTS.sub(lambda part: part[0] if part[0][0] == "<" else self.word(part[0]), text)

    def number(self, number):
        """Return another number of the same type, sign and number of digits; its zeros stay."""
        return type(number)(self.text(repr(number)))

    def data(self, value):
        """Return a copy of nested plain data with every text in it renamed; keys, numbers and the rest stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.data(item) for key, item in value.items()}
        return [self.data(item) for item in value] if isinstance(value, list) else value

    def word(self, word):
        """Return what stands for one word or row of digits in this run: never itself, and never the same for two."""
        small = word.lower()
        if small not in self.renamed:
            draws = (self.drawn(small, attempt) for attempt in range(50))
            taken = {*self.renamed.values(), *CONTRACT_WORDS, small}
            self.renamed[small] = next((new for new in draws if new not in taken), small)  # short words run out
        new = self.renamed[small]
        return "".join(b.upper() if a.isupper() and len(b.upper()) == 1 else b for a, b in zip(word, new))

    def drawn(self, word, attempt):
        draw = self.random(f"{word} {attempt}")
        return "".join(self.letter(char, draw) for char in word)

    def letter(self, char, draw):
        """Return a character of the same kind; one that is not an ASCII letter and not Chinese stays."""
        for kind in (VOWELS, CONSONANTS, "123456789"):
            if char in kind:
                return draw.choice(kind)
        return chr(draw.randrange(0x4E00, 0x9FA0)) if "\u4e00" <= char < "\u9fa0" else char


fresh = Fresh()


# ---- JSON, as strictly as the labs read it


class NotJSON(ValueError):
    """A text is not JSON: what Python reads beyond it counts as well."""


def _no_constant(name):
    raise NotJSON(f"{name} is not JSON")


def _no_key_twice(pairs):
    if len(dict(pairs)) < len(pairs):
        raise NotJSON("a key is given twice")
    return dict(pairs)


def strict_json(text):
    """Return what a JSON text says; ValueError for all that is not JSON, for NaN and for a key given twice."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_key_twice)
    except RecursionError as error:
        raise NotJSON("nested too deeply") from error


@lru_cache(maxsize=None)
def deep_values():
    """Return JSON values nested about as deeply as the decoder of this Python follows:
    some it reads, some it does not.
    """
    low, high = 1, 1 << 17
    while low < high:
        middle = (low + high + 1) // 2
        try:
            json.loads("[" * middle + "]" * middle)
            low = middle
        except RecursionError:
            high = middle - 1
    depths = range(low - 6, low + 4)
    if low < 1200:  # before Python 3.12 the frames of functions count as well; a worker has fewer, the loops have more
        depths = range(low - 14, low + 32, 4)
    return ["[" * depth + "]" * depth for depth in depths]


LOOKS_BROKEN = [  # texts that are right as they stand, although they look like something to repair
    "&lt;b&gt; &amp; &#39;", "/* a */ b // c <!-- d --> # e", "a: True, b: False, c: None, d: NaN",
    "007 0x1F +3 1_000 1,5 .5 2.", "true", "null", "NaN", "3", "[]", "{}",
    "\u201ca\u201d \u2018b\u2019 \u201ec\u201c \u00abd\u00bb", "{'a': 1,}", '{"category": "a"}', "```json",
    "```\na\n```", "<think>a</think> b", "<|im_end|> </s> [INST]", "\ufb01 \uff41\uff11 \u00b2 \u2026",
    "e\u0301 \u00e9", "a\u00a0b\u200bc\ufeffd\u2028e", "a  b\tc\\nd", "\\u0041 \\\\", "C:\\new\\table",
    "50% %20 +", "a\r\nb", "],}", ",", "a,", "'a'", '"a"', "`a`", "**a** _b_", "json: a", "Answer: a",
    "$a$ \\(b\\)", "\uff2f\uff2b\uff0c\uff08a\uff09\uff1a\uff1b", "stra\u00dfe \u0130", "\U0001f642 \ud83d",
    "\x1b[0m\x00\x7f", "...", "a-b", "A B",
]  # fmt: skip


def not_quite(raw):
    """Return a right reply in wrong forms, which a function that asks a client may be tempted to repair."""
    record, body = json.loads(raw), raw[1:-1]
    forms = [
        "```json\n%s\n", "~~~\n%s\n~~~", "`%s`", "<think>a</think>\n%s", "</think>%s", "<answer>%s</answer>", "(%s)",
        "\ufeff%s", "%s<|im_end|>", "%s</s>", "[INST]%s", "Sure! %s", "Answer: %s", "json\n%s", "%s.", "%s;", "%s,",
        "[%s]", "%s Is that right?", "/* a */%s", "%s // a", "// a\n%s", "# a\n%s", "%s\n{}", '{"answer": %s}',
        '{"output": %s}', '{"result": %s}', '{"json": %s}',
    ]  # fmt: skip
    wrong = [form.replace("%s", raw) for form in forms]
    wrong += [raw[:-1], raw[:-1] + ",}", raw[1:], "{" + body + "}}", "{{" + body + "}}", json.dumps(raw), repr(record)]
    wrong += [raw.replace('"', new) for new in ("'", "\u201c", '\\"')]
    wrong += [raw.replace(": ", "= "), raw.replace(", ", "; "), raw.replace("true", "True").replace("false", "False")]
    return [text for text in wrong if text != raw] + ["", "null", None, 7, raw.encode(), record, [raw], [record]]


# ---- texts one edit away from a JSON object


TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.]+|[a-z]+|[{}\[\]:,]')
WRITTEN_INSTEAD = {  # what models and people write for a token of JSON
    '"': [
        "'",
        "`",
        "\u201c",
        "\u201d",
        "\u201e",
        "\u00ab",
        "\u00bb",
        "\uff02",
        "''",
        '""',
        '\\"',
        "&quot;",
        "&#34;",
        "",
    ],
    "{": ["(", "[", "\uff5b", "<", "{{", "dict(", ""],
    "}": [")", "]", "\uff5d", ">", "}}", ",}", ";}", ", ...}", "", "} }"],
    ":": ["=", "=>", " =", "\uff1a", "::", "->", " is ", ";", ""],
    ",": [";", "\uff0c", "\u3001", ",,", " and ", "\n", ", ,", "|", ""],
    "true": ["True", "TRUE", "yes", "1", '"true"', "on", "Y", "tru", "t", "!0"],
    "false": ["False", "FALSE", "no", "0", '"false"', "off", "N", "fals", "f", "!1"],
    "null": ["None", "NULL", "nil", "undefined", '""', '"null"', "N/A", "~"],
}
NUMBERS = [
    "0{}", "+{}", "{}.", "{}.0", ".{}", "{}L", "{}n", '"{}"', "0x{}", "{}_0", "{}e0", "#{}", "{}/5", "'{}'",
    "~{}", "({})", "[{}]", "P{}",
]  # fmt: skip
BEFORE = [  # what models put before an object
    "Here is the JSON:\n", "Sure! ", "Answer: ", "Final answer:\n", "Output:\n", "Result: ", "JSON:", "JSON\n",
    "json\n", "json ", "assistant: ", "assistant\n", "data: ", "return ", "result = ", "var a = ", "const a = ",
    "a := ", "\u7b54\u6848\uff1a", "\ufeff", "\u200b", "\ufffd", "\x00", "\x1b[0m", "\\n", "- ", "* ", "> ",
    "1. ", "# ", "$ ", "+", "=", "<think>a parcel</think>\n", "<thinking>\na parcel\n</thinking>\n",
    "<reasoning>late</reasoning>", "<scratchpad></scratchpad>", "</think>", "<think>", "<answer>", "<json>",
    "<br>", "&nbsp;", "<|im_start|>assistant\n", "<|assistant|>", "<|channel|>final<|message|>",
    "<|python_tag|>", "<s>", "<bos>", "[/INST]", "[TOOL_CALLS]", "<start_of_turn>model\n", "### Response:\n",
    ")]}'\n", "/* checked */", "// checked\n", "# checked\n", "<!-- checked -->", "-- checked\n", "~~~\n",
    "```yaml\n", "```\n", "```json\n", "``", "`", "**", ",", ";", ":", '"', "'", "}", "]", "(", "{}", "null",
    "0 ", '""', "---\n", "...",
]  # fmt: skip
BEHIND = [  # and behind it
    ".", "!", ";", ",", ":", "...", "\u2026", "}", "]", ")", '"', "'", "`", "``", "\n```", "```", "\n~~~", "**",
    "\n---", "\n\nHope this helps!", " Is that right?", " done", " {}", "[]", " null", " 0", '""', "<|im_end|>",
    "<|endoftext|>", "<|eot_id|>", "<|end|>", "<|return|>", "</s>", "<eos>", "<end_of_turn>", "[DONE]",
    "\nUser:", "\nHuman: thanks", "###", "</answer>", "</json>", "</think>", "<think></think>", "</tool_call>",
    "/* checked */", " // checked", " # checked", "<!-- checked -->", " -- checked", "\ufeff", "\u200b",
    "\ufffd", "\x00", "\x1b[0m", "\\", "\\n", "%", "&nbsp;", "<br>", "EOF", "\n%%", "|",
]  # fmt: skip
BETWEEN = [  # and between two of its tokens
    "/* checked */", "\n// checked\n", "\n# checked\n", "<!-- checked -->", "\n-- checked\n", "...", "\u2026",
    "\u00a0", "\u3000", "\u2003", "\u200b", "\u2028", "\ufeff", "\x00", "\x0b", "\x0c", "\x1b[0m", "\\", "\\n",
    "\\t", "&nbsp;", "<br>", "<b>", "</s>", "<|im_end|>", "**", "`", "```", "_", "$", "@", "*", "+", "(", ")",
    "!", "?", "{", "}", "[", "]", "null", "0", '""', "a", "\\u0020", "%20",
]  # fmt: skip
WRAPPED = [
    "[%s]", "(%s)", "{%s}", "<%s>", "`%s`", "``%s``", "**%s**", "~~~\n%s\n~~~", "~~~json\n%s\n~~~",
    "```yaml\n%s\n```", "```python\n%s\n```", "```json5\n%s\n```", "```\n```json\n%s\n```\n```", '"""%s"""',
    "'%s'", '"%s"', "\u201c%s\u201d", "json(%s)", "JSON.parse('%s')", "callback(%s);", "%s;", "%s,", "%s.",
    "%s\n{}", "{}\n%s", "<json>%s</json>", "<answer>%s</answer>", "<output>\n%s\n</output>",
    "<tool_call>%s</tool_call>", "<![CDATA[%s]]>", "[TOOL_CALLS]%s", "\\boxed{%s}", "$$%s$$", '{"answer": %s}',
    '{"output": %s}', '{"json": %s}', "[%s, %s]", "%s\n%s", "%s %s", "module.exports = %s", "answer = %s",
    "Answer:\n%s", "> %s", "- %s", "1. %s", "data: %s\n\ndata: [DONE]", "=== BEGIN ===\n%s\n=== END ===",
]  # fmt: skip
IN_STRINGS = [
    "\n", "\t", "\r", "\x00", "\x1f", "\\'", "\\x41", "\\ ", "\\\n", "\\u00g0", "\\u41", "\\U00000041", "\\N",
    "\\a", "\\0", '"', '""', "\\`", "\\$",
]  # fmt: skip
STYLED_STRINGS = [
    "'%s'", "`%s`", "%s", '"""%s"""', "\u201c%s\u201d", "\u2018%s\u2019", "\u00ab%s\u00bb", "\u300c%s\u300d",
    '"%s', '%s"', "'%s\"", 'u"%s"', 'r"%s"', 'b"%s"', 'f"%s"', '@"%s"', '("%s")', '"%s" ""', '"" + "%s"',
    '"%s"[:]', "str('%s')", "<%s>", "<![CDATA[%s]]>", "&quot;%s&quot;", '\\"%s\\"', '"%s"""', "[%s]", "{%s}",
    "**%s**", "/%s/",
]  # fmt: skip
STYLED_KEYS = [  # what becomes of a key
    str.upper, str.title, str.capitalize, "{} ".format, " {}".format, "\n{}".format, "{}:".format, "_{}".format,
    "{}_".format, "{}s".format, "{}?".format, "'{}'".format, "the {}".format, "{}\u200b".format,
    "\ufeff{}".format, "*{}*".format, "{}[]".format, "data.{}".format, lambda key: key.replace("_", "-"),
    lambda key: key.replace("_", " "), lambda key: key.replace("_", ""), lambda key: key[:-1],
    lambda key: re.sub("_(.)", lambda found: found[1].upper(), key), lambda key: key.replace("e", "\u0435"),
    lambda key: key.replace("a", "\u00e1"), lambda key: "".join(chr(ord(char) + 0xFEE0) for char in key),
]  # fmt: skip


class Edit:
    """A text made from another by one edit; `because` says which, without the data."""

    def __init__(self, because, text):
        self.because, self.text = because, text


def tokens(text):
    """Return the tokens of a JSON text as matches."""
    return list(TOKENS.finditer(text))


def replaced(text, span, new):
    return text[: span[0]] + new + text[span[1] :]


def edits(text, draw, count=None):
    """Return some hundred texts, each one edit away from a text that holds a JSON object,
    drawn with draw (random.Random).

    Each is an Edit(because, text); no text is the first one, and none comes twice. Every place to cut the text is
    among them, and all that the lists above name; where it happens is drawn. Some are JSON still: `strict_json` says
    which. count: take so many, drawn, instead of all.
    """
    kinds = (cuts, slips, punctuation, words, strings, keys, insertions, wraps)
    found = {edit.text: edit for kind in kinds for edit in kind(text, draw) if edit.text != text}
    drawn = list(found.values())
    return drawn if count is None or count > len(drawn) else draw.sample(drawn, count)


def cuts(text, draw):
    for place in range(1, len(text)):
        yield Edit("the reply is cut short", text[:place])


def slips(text, draw):
    """Yield the text with one character dropped, doubled or swapped with the next, at many places,
    or its start lost.
    """
    for place in draw.sample(range(len(text) - 1), min(12, len(text) - 1)):
        head, char, tail = text[:place], text[place], text[place + 1 :]
        yield Edit("a character is dropped", head + tail)
        yield Edit("a character is doubled", head + char * 2 + tail)
        yield Edit("two characters are swapped", head + tail[0] + char + tail[1:])
    for place in draw.sample(range(1, len(text)), min(8, len(text) - 1)):
        yield Edit("the start of the reply is missing", text[place:])


def punctuation(text, draw):
    """Yield the text with a mark of JSON written in another way: one of them, and all of them."""
    for mark in '"{}:,':
        spans = [(at.start(), at.start() + 1) for at in re.finditer(re.escape(mark), text)]
        for new in WRITTEN_INSTEAD[mark] if spans else ():
            yield Edit(f"{new!a} stands for {mark}", replaced(text, draw.choice(spans), new))
            yield Edit(f"{new!a} stands for each {mark}", text.replace(mark, new))


def words(text, draw):
    """Yield the text with a number, true, false or null written in another way."""
    for token in tokens(text):
        if token[0] in WRITTEN_INSTEAD and token[0].isalpha():
            for new in WRITTEN_INSTEAD[token[0]]:
                yield Edit(f"{new} stands for {token[0]}", replaced(text, token.span(), new))
        elif token[0][0] in "-0123456789":
            wide = "".join(chr(ord(char) + 0xFEE0) for char in token[0])
            for new in [*(form.format(token[0]) for form in NUMBERS), wide]:
                yield Edit("a number is written in another way", replaced(text, token.span(), new))


def keys(text, draw):
    """Yield the text with one of its keys in another style, without its quotes, or given a second time."""
    found = tokens(text)
    own = [token for token, after in zip(found, found[1:]) if token[0][0] == '"' and after[0] == ":"]
    for style in STYLED_KEYS:
        styled = [(token, style(token[0][1:-1])) for token in own]
        changed = [(token, key) for token, key in styled if key != token[0][1:-1]]
        if changed:
            token, key = draw.choice(changed)
            yield Edit("a key is written in another way", replaced(text, token.span(), f'"{key}"'))
    for token in own:
        yield Edit("a key has no quotes", replaced(text, token.span(), token[0][1:-1]))
        yield Edit("a key is given twice", replaced(text, token.span(), f"{token[0]}: null, {token[0]}"))


def insertions(text, draw):
    """Yield the text with something put before it, behind it, or between two of its tokens."""
    for new in BEFORE:
        yield Edit(f"{new!a} stands before the object", new + text)
    for new in BEHIND:
        yield Edit(f"{new!a} stands behind the object", text + new)
    inside = [token.start() for token in tokens(text)][1:]
    for new in BETWEEN:
        yield Edit(f"{new!a} stands between two tokens", replaced(text, [draw.choice(inside)] * 2, new))


def strings(text, draw):
    """Yield the text with one of its strings written as other languages write it, or with what no JSON string holds."""
    found = [token for token in tokens(text) if token[0][0] == '"']
    for new in IN_STRINGS:
        token = draw.choice(found)
        place = draw.randrange(token.start() + 1, token.end())
        yield Edit(f"{new!a} stands inside a string", replaced(text, [place] * 2, new))
    for form in STYLED_STRINGS:
        token = draw.choice(found)
        yield Edit(
            "a string is written in another way", replaced(text, token.span(), form.replace("%s", token[0][1:-1]))
        )


def wraps(text, draw):
    """Yield the text wrapped in what models put around an object."""
    for form in WRAPPED:
        yield Edit("the object is wrapped", form.replace("%s", text))
