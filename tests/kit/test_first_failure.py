"""The first failure tells the cause: mistakes that beginners make, and what the screen says of each with --hint.

Each is a small edit of the solution. `tells` are the parts of the screen that name the cause; `hides` must not be there.
To read all of them: python tests/kit/test_first_failure.py show
"""

import sys
import tempfile
import unittest
from pathlib import Path

from kit import KIT, run, solution_of

LAB = "ticket_triage"
SOLUTION = solution_of(LAB)
WHY, HINT = "  why ", "  hint "


class Mistake:
    def __init__(self, title, *edits, tells, hides=()):
        self.title, self.edits, self.tells, self.hides = title, edits, tells, hides

    def text(self):
        """Return the submission; ValueError when the solution has changed under an edit."""
        text = SOLUTION
        for old, new in self.edits:
            if text.count(old) != 1:
                raise ValueError(f"{self.title}: {text.count(old)} times in the solution: {old}")
            text = text.replace(old, new)
        return text


DECODE = "    return _checked(_decode(raw), categories)"
ASK = "        raw = client(messages)\n"
REFUSED = '            messages.append({"role": "user", "content": f"Your reply was refused. {error}. Send a corrected one."})\n'
TOOL_CHECK = '    if type(name) is not str or name not in tools:\n        raise ToolCallError(f"tool: expected one of {\', \'.join(tools) or \'no tools\'}, got {show(name)}")\n'

MISTAKES = [
    Mistake(
        "json.loads without a try", (DECODE, "    return _checked(json.loads(raw.strip()), categories)"),
        tells=["P1", "JSONDecodeError", "left the function, and only TriageError may", "json.loads(raw.strip())", "still something around it?"],
    ),
    Mistake(
        "only JSONDecodeError is caught", ("except (ValueError, RecursionError) as error:  # no JSON or too many digits; nested too deep", "except json.JSONDecodeError as error:"),
        tells=["P2", "ValueError: Exceeds the limit", "only TriageError may", "raw_decode(text)", "name the exception"], hides=["prose"],
    ),
    Mistake(
        "isinstance(priority, int)", ("type(priority) is not int", "not isinstance(priority, int)"),
        tells=["P5", '"priority": true', "true is a bool, and bool is a kind of int", "isinstance(True, int)"],
    ),
    Mistake(
        "int(priority) repairs", ("    category, priority = record[\"category\"], record[\"priority\"]\n", "    category, priority = record[\"category\"], int(record[\"priority\"])\n"),
        tells=["TypeError: int() argument", 'int(record["priority"])', "only TriageError may", "Of which type"],
    ),
    Mistake(
        "a typing error in a name", ("    if type(needs_human) is not bool:", "    if type(needs_humans) is not bool:"),
        tells=["P1", "NameError: name 'needs_humans' is not defined", "type(needs_humans)", "spelled"], hides=[WHY],
    ),
    Mistake(
        "a breakpoint left in", (DECODE, f"    breakpoint()\n{DECODE}"), tells=["breakpoint() works with --debug only", "at "], hides=[WHY, HINT],
    ),
    Mistake(
        "a loop without end", (DECODE, f"    while raw.startswith('`'): raw.strip('`')\n{DECODE}"),
        tells=["failed", "it ran longer than", "raw.strip('`')", "What makes it end?", "call"], hides=[WHY],
    ),
    Mistake(
        "the process ends", (DECODE, f"    if not raw.strip():\n        sys.exit('empty')\n{DECODE}"), tells=["SystemExit", "P2", "sys.exit('empty')"],
    ),
    Mistake(
        "a KeyError for a missing field", ('    _exactly(record, FIELDS, TriageError)\n', ""),
        tells=["P3", "KeyError: 'category'", "only TriageError may", 'record["category"]', "check has to come before"], hides=["is missing\n"],
    ),
    Mistake(
        "extra fields pass", ("    if len(record) > len(names):\n        extra = next(name for name in record if name not in names)\n        raise error(f\"{show(extra)}: not expected here\")\n", ""),
        tells=["P3", "expected  TriageError", "a field too many"],
    ),
    Mistake(
        "a list is looked up in a set", ("type(category) is not str or category not in categories", "category not in categories"),
        tells=["P4", "TypeError: unhashable type: 'list'", "if category not in categories", "Of which type is each value in this line"],
    ),
    Mistake(
        "the category is stripped and lowered", ('    category, priority = record["category"], record["priority"]\n', '    category, priority = str(record["category"]).strip().lower(), record["priority"]\n'),
        tells=["P4", "letter by letter", "of yours change the value"],
    ),
    Mistake(
        "the summary is cut", ("not 1 <= len(summary.strip()) <= SUMMARY_LIMIT", "not summary.strip()"),
        tells=["P6", "121 characters do not fit"],
    ),
    Mistake(
        "the summary is measured before it is stripped", ("not 1 <= len(summary.strip()) <= SUMMARY_LIMIT", "not 1 <= len(summary) <= SUMMARY_LIMIT"),
        tells=["P6", "it is counted after stripping", "Which text do you measure"],
    ),
    Mistake(
        "the summary is returned with its blanks", ('"summary": summary.strip(), "needs_human"', '"summary": summary, "needs_human"'),
        tells=["summary: ", "Which text do you measure, and which text do you return?"],
    ),
    Mistake(
        "messages name no field", ('raise TriageError(f"needs_human: expected true or false, got {show(needs_human)}")', 'raise TriageError("wrong value")'),
        tells=["P7", "TriageError: wrong value", "the message has to name needs_human"], hides=["0 equals false"],
    ),
    Mistake(
        "the call runs before the arguments are checked",
        ("    _exactly(arguments, parameters, ToolCallError)\n", "    result = tools[name][\"function\"](**arguments)\n    _exactly(arguments, parameters, ToolCallError)\n"),
        tells=["R5", "how often each function was called: hours: 2"],
    ),
    Mistake(
        "the arguments are passed by position", ('tools[name]["function"](**arguments)', 'tools[name]["function"](*arguments.values())'),
        tells=["R5", "received ('north', 1007) without names; arguments are passed by name", "at ", "*arguments.values()", "What does the function receive, and how?"],
    ),
    Mistake(
        "a tool that is not on the list is a KeyError", (TOOL_CHECK, ""), tells=["R2", "KeyError", "only ToolCallError may", "tools[name]"],
    ),
    Mistake(
        "True passes for an int argument", (" or (kind is int and type(value) is bool)", ""),
        tells=["R3", "true is a bool, and bool is a kind of int", "about True and int"],
    ),
    Mistake(
        "the reply is appended stripped", ('messages.append({"role": "assistant", "content": raw})', 'messages.append({"role": "assistant", "content": raw.strip()})'),
        tells=["T1", "content: ", "appended as it came", "or what you made of it"],
    ),
    Mistake(
        "the role of a tool's result", ('messages.append({"role": "tool", "name": name', 'messages.append({"role": "user", "name": name'),
        tells=["T2", "request 2, message 4, role: 'tool'", "request 2, message 4, role: 'user'"],
    ),
    Mistake(
        "the client is asked once more", ("    while refused < max_attempts:\n", "    while refused <= max_attempts:\n"), tells=["the client was asked again after reply 2, after which the ticket falls back", "client(messages)", "two refused replies are the limit"],
    ),
    Mistake(
        "a valid answer does not end the loop",
        ('                return {**answer, "attempts": refused + 1, "tool_calls": tool_calls, "fallback": False}\n', '                result = {**answer, "attempts": refused + 1, "tool_calls": tool_calls, "fallback": False}\n                continue\n'),
        tells=["the client was asked again after reply 1, which is a valid answer", "raw = client(messages)"], hides=["AskedTooOften"],
    ),
    Mistake(
        "attempts start again after a tool call", ("            tool_calls += 1\n", "            tool_calls += 1\n            refused = 0\n"),
        tells=["T7", "a tool call gives no attempt back", "set a counter back"],
    ),
    Mistake(
        "the client is inside the try",
        (ASK + '        messages.append({"role": "assistant", "content": raw})\n        try:\n', '        try:\n            raw = client(messages)\n            messages.append({"role": "assistant", "content": raw})\n'),
        ("except TriageError as error:\n            refused += 1", "except Exception as error:\n            refused += 1"),
        tells=["T8", "an outage is not a bad reply", "inside the try"],
    ),
    Mistake(
        "the fallback guesses a category", ('        "category": None,\n', '        "category": sorted(categories)[0],\n'), tells=["category: None", "category: 'billing'"],
    ),
    Mistake(
        "a fallback counts as correct", ("        if result[\"fallback\"]:\n", "        if result[\"fallback\"]:\n            pass\n        elif False:\n"), tells=["E1", "evaluate([the case 'fell-back'], ...): correct: 1", "correct: 0"],
    ),
    Mistake(
        "a division by zero without cases", (" if total else 0.0", ""), tells=["E2", "ZeroDivisionError", "correct / total", "when is it 0?"],
    ),
    Mistake(
        "a function by another name", ("def parse_triage(raw, categories):", "def parse_triages(raw, categories):"),
        tells=["parse_triage is missing", "is parse_triages (line"], hides=["--reset"],
    ),
    Mistake(
        "a return that was forgotten", (DECODE, "    _checked(_decode(raw), categories)"), tells=["P1", "got       None", "no return was reached"], hides=["nothing to take off"],
    ),
    Mistake(
        "print in the place of return", (DECODE, "    print(_checked(_decode(raw), categories))"),
        tells=["P1", "got       None", "print() only shows a value", "printed | {'category'"], hides=["nothing to take off"],
    ),
    Mistake(
        "input() in the place of an argument", (DECODE, "    return _checked(_decode(input()), categories)"),
        tells=["P1", "EOFError", "nobody types while the tests run", "_decode(input())"], hides=["only TriageError may"],
    ),
    Mistake(
        "a function that calls itself without end", (DECODE, "    return parse_triage(raw.strip(), categories)"),
        tells=["P1", "RecursionError", "parse_triage(raw.strip(), categories)", "calls itself without end"],
    ),
    Mistake(
        "a function that is not written yet", (DECODE, '    raise NotImplementedError("write parse_triage")'),
        tells=["P1", "Begin with this one call"], hides=[WHY],
    ),
]


def screen_of(mistake):
    """Return what verify.py --hint says of a mistake, without the marks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{LAB}.py")
        path.write_text(mistake.text(), encoding="utf-8")
        said = run(KIT / "verify.py", path, "--hint", "--timeout", "2").stdout.replace(folder, "")
    head, _, failure = said.partition("TASK.md ")
    return f"{head.partition('  parse_triage')[0]}{failure}" if failure else said


def unfolded(text):
    return " ".join(text.split())


class FirstFailure(unittest.TestCase):
    def test_it_tells_the_cause(self):
        for mistake in MISTAKES:
            with self.subTest(mistake=mistake.title):
                said = screen_of(mistake)
                for part in mistake.tells:
                    self.assertIn(unfolded(part), unfolded(said), said)
                for part in mistake.hides:
                    self.assertNotIn(part, said, said)


if __name__ == "__main__":
    if sys.argv[1:] == ["show"]:
        for each in MISTAKES:
            print(f"==== {each.title}\n{screen_of(each)}")
    else:
        unittest.main()
