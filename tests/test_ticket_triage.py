"""The fifteen tests of the ticket triage lab. Read the names and first lines: they are the contract.

Each test both accepts and refuses something. A row of a table is a trap and begins with the reason. Names, texts and
numbers that go through `fresh` are other ones where a grade is given. labtest.py says how a table is read.
"""

import json
import unicodedata
import unittest
from functools import lru_cache, partial

from labtest import Client, Containing, LabTest, Mismatch, Misused, Row, same

import ticket_triage as lab
from grader.labdata import LOOKS_BROKEN, deep_values, edits, fresh, not_quite, strict_json
from grader.line.session import command_line

CATEGORIES = BILLING, DELIVERY, OUTAGE, RETURNS = fresh.names("billing", "delivery", "outage", "returns")
TICKET = fresh.text("My parcel </ticket> has been at the depot since Monday.")
SUMMARY = fresh.text("Parcel stuck at depot")
ANSWER = {"category": DELIVERY, "priority": 3, "summary": SUMMARY, "needs_human": False}
RAW = json.dumps(ANSWER)
TEXT_LAST = json.dumps({field: ANSWER[field] for field in ("needs_human", "category", "priority", "summary")})
BAD = json.dumps({**ANSWER, "priority": 7})
WORSE = json.dumps({**ANSWER, "summary": "   "})

ANY_TYPE = "json.loads can return a value of any JSON type. Which check says that this one is an object?"
FOLLOW = "This reply is right as it is. Follow it through your function: which line makes something else of it?"
STRIP = "Which method of str takes whitespace off both ends?"
ENDS = "Which numbers do the ends of your comparison or range let in?"
NO_CONSTANT = "The decoder accepts this although it is not JSON. What is parse_constant of json.loads for?"


def reply(**changes):
    """Return a valid reply with some fields changed."""
    return json.dumps({**ANSWER, **changes})


def without(field):
    return json.dumps({name: value for name, value in ANSWER.items() if name != field})


def parsing(row):
    return partial(lab.parse_triage, row.raw, CATEGORIES)


@lru_cache(maxsize=None)
def edited():
    """Return {clause: rows} of the edits of RAW: which clause they break, or P2 where they are right as they stand."""
    rows = {"P2": [], "P3": [], "category": [], "priority": [], "needs_human": []}
    for edit in edits(RAW, fresh.random("parse_triage")):
        row, record = Row(edit.because, raw=edit.text), said_by(edit.text)
        if type(record) is not dict:
            rows["P2"].append(row)
        elif record.keys() != ANSWER.keys():
            rows["P3"].append(row)
        else:
            fields = ("category", "priority", "needs_human")
            wrong = [field for field in fields if not same(record[field], ANSWER[field])]
            if not wrong:
                row.gives = {**ANSWER, "summary": record["summary"].strip()}
            rows[wrong[0] if wrong else "P2"].append(row)
    return rows


def said_by(text):
    """Return what a text says as JSON, or None where it is not JSON."""
    try:
        return strict_json(text)
    except ValueError:
        return None


def summarized(because, summary, kept=None, clause="P6"):
    return Row(because, clause=clause, summary=summary, gives={**ANSWER, "summary": summary if kept is None else kept})


TRACK, REFUND, HOURS = fresh.names("track", "refund", "hours")
NUMBER, CARRIER, AMOUNT, EXPRESS = fresh.names("number", "carrier", "amount", "express")
ORDER, PRICE, SENDER = fresh.number(1007), fresh.number(12.5), fresh.text("north")


class Tools:
    """A whitelist of three tools that records what was called."""

    def __init__(self):
        self.calls = []

    def table(self):
        return {
            TRACK: {"function": self.track, "parameters": {NUMBER: int, CARRIER: str}},
            REFUND: {"function": self.refund, "parameters": {AMOUNT: float, EXPRESS: bool}},
            HOURS: {"function": self.hours, "parameters": {}},
        }

    def receive(self, name, values, arguments):
        self.calls.append((name, arguments))
        if values:
            raise Misused(f"the function of {name} received {values!r} without names; arguments are passed by name")

    def track(self, *values, **arguments):
        self.receive(TRACK, values, arguments)
        return {"place": fresh.text("Łódź"), "days": arguments[NUMBER] - 1000}

    def refund(self, *values, **arguments):
        self.receive(REFUND, values, arguments)
        return [arguments[AMOUNT], arguments[EXPRESS]]

    def hours(self, *values, **arguments):
        self.receive(HOURS, values, arguments)
        return None


def call_of(tool, **arguments):
    return {"tool": tool, "arguments": arguments}


TRACKING = {CARRIER: SENDER, NUMBER: ORDER}  # not in the order of the parameters
TRACK_CALL = call_of(TRACK, **TRACKING)
TRACKED = {"place": fresh.text("Łódź"), "days": ORDER - 1000}
HOURS_CALL = call_of(HOURS)


def assistant(raw):
    return {"role": "assistant", "content": raw}


def refused(function, *args):
    """Return the user message that follows a refused reply: it holds the message that function gives."""
    try:
        got = function(*args)
    except lab.TriageError as error:
        return {"role": "user", "content": Containing(str(error))}
    raise Mismatch(f"{function.__name__}{args!r}", "TriageError", repr(got))


class ParseTriage(LabTest):
    refusal = "TriageError"

    def test_p1_takes_off_whitespace_and_one_closed_fence(self):
        """P1 Around the object there may be whitespace, and inside that one Markdown fence that is closed.

        Hint P1: A fence has two parts, a first line and an end. Which of the two does this reply have? And are
        there backticks that are not a fence?
        """
        quoting = {**ANSWER, "summary": "Run ```npm ci``` or ``` again"}
        fenced = f"```json\n{json.dumps(quoting, indent=2)}\n```"
        self.returns_each(parsing, [
            Row("there is nothing to take off", raw=RAW, hint=FOLLOW),
            Row("models send blank lines", raw=f" \n\t{RAW}\n\n", hint=STRIP),
            Row("a fence", raw=f"```\n{RAW}\n```"),
            Row("a fence that names the format", raw=f"```json\n{RAW}\n```"),
            Row("whitespace goes first, then the fence", raw=f"\n  ```json\n{json.dumps(ANSWER, indent=2)}\n```  \n"),
            Row("blank lines inside the fence are whitespace of JSON", raw=f"```json\n\n  {RAW}\t\n\n```"),
            Row("backticks inside a JSON string are text", raw=json.dumps(quoting), gives=quoting),
            Row("the last ``` closes the fence, not the first", raw=fenced, gives=quoting),
        ], clause="P1", gives=ANSWER)
        self.refuses_each(lab.TriageError, parsing, [
            Row("a fence that is not closed is not a fence: the reply may be cut short", raw=f"```json\n{RAW}"),
            Row("two backticks do not close a fence", raw=f"```json\n{RAW}\n``"),
            Row("only ``` closes a fence", raw=f"```json\n{RAW}\n~~~"),
            Row("a fence that is not opened is not a fence", raw=f"{RAW}\n```"),
            Row("one fence is taken off, not two", raw=f"```\n```json\n{RAW}\n```\n```"),
            Row("one fence is taken off, not two", raw=f"```json\n```\n{RAW}\n```\n```"),
            Row("only ``` and ```json open a fence", raw=f"```yaml\n{RAW}\n```"),
            Row("only ``` and ```json open a fence", raw=f"```jsonc\n{RAW}\n```"),
            Row("a fence is made of backticks", raw=f"~~~json\n{RAW}\n~~~"),
            Row("the fence surrounds the whole reply, or it is not a fence", raw=f"Here it is:\n```json\n{RAW}\n```"),
            Row("the closing ``` ends the reply", raw=f"```json\n{RAW}\n```\nAnything else?"),
        ], clause="P1")
        self.refuses_each(lab.TriageError, parsing, [
            Row("inside a fence there is one object too", raw=f"```json\n{text}\n```")
            for text in (f"{RAW},", RAW[:-1], f"json\n{RAW}")
        ], clause="P1", hint="Does a line of yours search, cut off or complete something besides the fence?")
        self.refuses_each(lab.TriageError, parsing, [
            Row("inside a fence there is one JSON object too", raw=f"```json\n{row.raw}\n```")
            for row in [*some_of(edited_answers(), "a fence"), *wrong_forms(RAW)]
            if type(row.raw) is str and "`" not in row.raw and row.raw != "null" and said_by(row.raw) is None
        ], clause="P1", hint="Which line of yours changes the text inside a fence?")

    def test_p2_refuses_all_but_one_json_object(self):
        """P2 Only one JSON object is accepted; every other text is refused, not repaired.
        P8 No reply can cause an exception but TriageError, and its message names the field.

        Hint P2: Your code accepts more than JSON. Which line of yours searches, cuts off, replaces or completes
        something before the decoder, or tries once more after it?
        Hint P8: Showing a value can fail by itself. How does your message show it?
        """
        self.returns_each(parsing, [
            Row("any number of blanks between its parts is JSON", raw=json.dumps(ANSWER, indent=1000), gives=ANSWER),
            Row("an escaped letter is JSON too", raw=RAW.replace('"summary"', '"\\u0073ummary"'), gives=ANSWER),
            *[
                Row(
                    "a text that only looks broken is returned letter by letter",
                    raw=json.dumps(answer, ensure_ascii=False), gives=answer,
                )
                for answer in ({**ANSWER, "summary": text} for text in LOOKS_BROKEN)
            ],
        ], clause="P2", hint="Which line of yours changes the text before it is decoded, or the value afterwards?")
        self.refuses_each(lab.TriageError, parsing, [
            Row("the reply is empty", raw=""),
            Row("half a character, which UTF-8 cannot hold", raw="\ud800"),
            Row("the reply is nothing but blanks", raw=" \n "),
            Row("prose", raw=fresh.text("The parcel is late.")),
            Row("prose before the object: do not search for it", raw=f"Sure! {RAW}"),
            Row("prose after the object", raw=f"{RAW} Is that right?"),
            Row("two objects: which one counts?", raw=f"{RAW}\n{RAW}"),
            Row("the reply was cut short", raw=RAW[:-9]),
            Row("the last brace is missing: do not repair", raw=RAW[:-1]),
            *[
                Row("the reply was cut inside its last text: do not close it", raw=TEXT_LAST[:-gone])
                for gone in range(2, 10)
            ],
            Row("an array, although it holds a right object", raw=f"[{RAW}]", hint=ANY_TYPE),
            Row("a number is JSON, but not an object", raw="4", hint=ANY_TYPE),
            Row("a JSON string, although it holds a right object", raw=json.dumps(RAW), hint=ANY_TYPE),
            Row("null is JSON, but not an object", raw="null", hint=ANY_TYPE),
            Row("single quotes are Python, not JSON", raw=RAW.replace('"', "'")),
            Row("a line end inside a text is not JSON", raw=RAW.replace(SUMMARY, SUMMARY.replace(" ", "\n"))),
            Row("a comma too many: do not repair", raw=RAW[:-1] + ",}"),
            Row("Python reads NaN, and JSON does not", raw=RAW.replace(" 3,", " NaN,"), hint=NO_CONSTANT),
            Row("Python reads Infinity, and JSON does not", raw=RAW.replace(" 3,", " -Infinity,"), hint=NO_CONSTANT),
            Row("int() gives up on so many digits, with a plain ValueError", raw=RAW.replace(" 3,", f" {'7' * 5000},")),
            Row("the decoder gives up on deep nesting, with a RecursionError", raw="[" * 100_000),
        ], clause="P2")
        self.refuses_each(lab.TriageError, parsing, [
            Row("a client can return something that is not text at all", raw=raw)
            for raw in (None, 7, RAW.encode(), ANSWER, [RAW])
        ], clause="P2", hint="json.loads takes more than str. Who promises that raw is a str?")
        self.refuses_each(lab.TriageError, parsing, [
            Row("showing a value nested this deeply can fail by itself", raw=RAW.replace(" 3,", f" {value},"))
            for value in deep_values()
        ], clause="P8")
        self.tries_each(lab.TriageError, parsing, edited()["P2"], clause="P2")

    def test_p3_wants_exactly_the_four_fields_each_once(self):
        """P3 There are four fields and no others: category, priority, summary, needs_human. A wrong one is named.
        P2 Only one JSON object is accepted; every other text is refused, not repaired.
        P9 The result is a dict with these four fields and nothing else, the summary stripped.

        Hint P2: What has become of a key that was given twice once you hold a dict? Look up object_pairs_hook.
        Hint P3: An object can lack one field and have another one too many, so the number of its fields proves
        nothing. Are names compared letter by letter?
        Hint P9: Is the result made from the four fields, whatever else you hold?
        """
        with self.subTest(clause="P9", because="the order of the fields is free"):
            backwards = json.dumps(dict(reversed(ANSWER.items())))
            self.returns(ANSWER, lab.parse_triage, backwards, CATEGORIES)
        messages = self.refuses_each(lab.TriageError, parsing, [
            Row(f"{field} is missing", raw=without(field), names=field) for field in ANSWER
        ], clause="P3")
        with self.subTest(clause="P3", because="a message that is the same for every field does not name one"):
            self.check("how many messages differ when another field is missing", len(set(messages)), 4)
        notes = fresh.name("notes")
        self.refuses_each(lab.TriageError, parsing, [
            Row("an object with no field at all", raw="{}"),
            Row("four fields, and not the four", raw=RAW.replace("category", "kind")),
            Row("four fields, and one of them with a capital letter", raw=RAW.replace("priority", "Priority")),
            Row("a field too many", raw=reply(**{fresh.name("confidence"): 0.9}), names=fresh.name("confidence")),
            Row("a field with a capital letter is another one", raw=reply(Category=BILLING), names="Category"),
            Row("a field too many, although it is null", raw=reply(**{notes: None}), names=notes),
            Row("a field too many, although its name is empty", raw=reply(**{"": 1})),
            *edited()["P3"],
        ], clause="P3")
        self.refuses_each(lab.TriageError, parsing, [
            Row("the decoder keeps the last and says nothing", names="category", raw=f'{{"category": null, {RAW[1:]}'),
            Row("twice the same value is still twice", names="priority", raw=RAW[:-1] + ', "priority": 3}'),
            Row("\\u0061 is an a: the same key", names="needs_human", raw=RAW[:-1] + ', "needs_hum\\u0061n": true}'),
        ], clause="P2")

    def test_p4_category_is_one_of_the_categories(self):
        """P4 category is one of the given names, whichever container holds them.
        P8 No reply can cause an exception but TriageError, and its message names the field.

        Hint P4: Which question comes first: of which type is the value, or is it among the categories? Does a line
        of yours change the value before it is compared?
        """
        wrong = [
            Row("it is not among the categories", category=fresh.name("refunds")),
            Row("names are compared letter by letter", category=DELIVERY.title()),
            Row("names are compared letter by letter", category=DELIVERY.upper()),
            Row("only the summary is stripped", category=f" {DELIVERY} "),
            Row("a part of a name is not a name", category=DELIVERY[:-1]),
            Row("a longer name is another one", category=DELIVERY + "s"),
            Row("two names are not one", category=f"{BILLING}, {DELIVERY}"),
            Row("an empty name is part of every name", category=""),
            Row("a list cannot be looked up in a set: TypeError", category=[DELIVERY]),
            Row("an object cannot be looked up in a set: TypeError", category={DELIVERY: 1}),
            Row("null is not a category", category=None),
            Row("true is not a category", category=True),
            Row("a position is not a category", category=2),
        ]
        for container in (list, tuple, set, frozenset):
            def sorting(row, categories=container(CATEGORIES)):
                return partial(lab.parse_triage, reply(category=row.category), categories)

            right = Row(f"it is in the {container.__name__}", category=RETURNS, gives={**ANSWER, "category": RETURNS})
            self.returns_each(sorting, [right], clause="P4")
            self.refuses_each(lab.TriageError, sorting, wrong, clause="P4", names="category")
        self.refuses_each(lab.TriageError, parsing, edited()["category"], clause="P4", names="category")
        with self.subTest(clause="P4", because="the categories of this call count, and not those of an earlier one"):
            self.returns(ANSWER, lab.parse_triage, RAW, CATEGORIES)
            self.refuses(lab.TriageError, "category", lab.parse_triage, RAW, [BILLING, OUTAGE])
        odd = [*LOOKS_BROKEN, " a ", "straße", "STRASSE", unicodedata.normalize("NFD", "é")]
        self.returns_each(lambda row: partial(lab.parse_triage, reply(category=row.category), odd), [
            Row("a name on the list is returned letter by letter", category=name, gives={**ANSWER, "category": name})
            for name in odd
        ], clause="P4")

    def test_p5_p7_priority_is_an_int_and_needs_human_a_bool(self):
        """P5 priority is 1, 2, 3 or 4; a value that only resembles one of them is refused.
        P7 needs_human takes the two JSON booleans and nothing else.
        P8 No reply can cause an exception but TriageError, and its message names the field.

        Hint P5: Try isinstance(True, int), True == 1 and 2.0 == 2 in the interpreter. Which check tells them
        apart? Does a line of yours convert the value, or put another one in its place?
        Hint P7: Which values equal True or False, and which only count as one of them in an if?
        Hint P8: Does each of your messages say which field is wrong?
        """
        ranking = lambda row: partial(lab.parse_triage, RAW.replace(" 3,", f" {row.priority},"), CATEGORIES)
        flagging = lambda row: partial(lab.parse_triage, reply(needs_human=row.flag), CATEGORIES)
        self.returns_each(parsing, [
            Row("1 and 4 are in", raw=reply(priority=priority), gives={**ANSWER, "priority": priority})
            for priority in (1, 2, 3, 4)
        ], clause="P5", hint=ENDS)
        self.refuses_each(lab.TriageError, ranking, [
            Row("true is a bool, and bool is a kind of int", priority="true"),
            Row("false is a bool, and bool is a kind of int", priority="false"),
            Row("2.0 equals 2 and is a float", priority="2.0"),
            Row("1e0 equals 1 and is a float", priority="1e0"),
            Row("1e400 is read as an infinite float", priority="1e400"),
            Row("a text is not converted", priority='"2"'),
            Row("a word is not converted", priority='"high"'),
            Row("null is not a number", priority="null"),
            Row("a list is not a number", priority="[2]"),
            Row("an object is not a number", priority='{"value": 2}'),
        ], clause="P5", names="priority")
        self.refuses_each(lab.TriageError, ranking, [
            Row("0 is below 1", priority="0"), Row("5 is above 4", priority="5"), Row("-3 is below 1", priority="-3"),
        ], clause="P5", names="priority", hint=ENDS)
        self.refuses_each(lab.TriageError, parsing, edited()["priority"], clause="P5", names="priority")
        self.returns_each(flagging, [
            Row("false is an answer, not a missing one", flag=flag, gives={**ANSWER, "needs_human": flag})
            for flag in (True, False)
        ], clause="P7")
        self.refuses_each(lab.TriageError, flagging, [
            Row("0 equals false and is an int", flag=0),
            Row("1 equals true and is an int", flag=1),
            Row("0.0 equals false and is a float", flag=0.0),
            Row("a text that is not empty counts as true", flag="no"),
            Row("an empty text counts as false", flag=""),
            Row("a text is not converted", flag="true"),
            Row("a text is not converted", flag="False"),
            Row("null is not an answer", flag=None),
            Row("an empty list counts as false", flag=[]),
        ], clause="P7", names="needs_human")
        self.refuses_each(lab.TriageError, parsing, edited()["needs_human"], clause="P7", names="needs_human")
        messages = self.refuses_each(lab.TriageError, parsing, [
            Row("the priority is wrong", raw=reply(priority=7)), Row("the flag is wrong", raw=reply(needs_human=7)),
        ], clause="P8")
        with self.subTest(clause="P8", because="a message that is the same for every field does not name one"):
            self.check("how many messages differ when another field is wrong", len(set(messages)), 2)

    def test_p6_summary_has_1_to_120_characters_after_stripping(self):
        """P6 summary has 1 to 120 characters, blanks around it not counted; a longer one is refused, not cut.
        P9 The result is a dict with these four fields and nothing else, the summary stripped.
        P8 No reply can cause an exception but TriageError, and its message names the field.

        Hint: Which text do you measure, and which text do you return?
        """
        y, z, sign, late = fresh.text("y"), fresh.text("z"), fresh.text("包"), fresh.text("Late")
        summing = lambda row: partial(lab.parse_triage, reply(summary=row.summary), CATEGORIES)
        self.returns_each(summing, [
            summarized("a short summary", late),
            summarized("1 character is enough", y),
            summarized("120 characters fit", y * 120),
            summarized("it is counted after stripping", f"\n  {z * 120} \t", z * 120),
            summarized("characters are counted, not bytes", sign * 120),
            summarized("characters are counted, not the halves that UTF-16 makes of them", "\U0001f4e6" * 120),
            summarized("blanks are all that str.strip() takes off", "\u3000\u00a0Late\u2003\x1f", "Late", clause="P9"),
            summarized("half a character and a NUL are characters: do not encode", "Late \ud800\0", clause="P8"),
            summarized("blanks inside stay, blanks around go", "  Two  words\n", "Two  words", clause="P9"),
        ])
        self.refuses_each(lab.TriageError, summing, [
            Row("nothing is not a summary", summary=""),
            Row("blanks are not a summary", summary=" \n\t "),
            Row("blanks of other alphabets are not a summary", summary="\u3000\u00a0\u2003"),
            Row("121 characters do not fit, and cutting loses some in silence", summary=z * 121),
            Row("a long text is refused, not cut", summary=fresh.text("word ") * 50),
            Row("null is not a text", summary=None),
            Row("a number is not a text", summary=5),
            Row("true is not a text", summary=True),
            Row("a list is not a text, although it has a length", summary=[late]),
            Row("an object is not a text, although it has a length", summary={late: late}),
        ], clause="P6", names="summary")


STYLES = (  # of a tool's name, that models write
    "{} ", " {}", "{}\n", "functions.{}", "default_api.{}", "tools:{}", "tool_{}", "{}_tool", "get_{}", "{}-1", "{}()",
    "{}.json", "/{}", "@{}", "'{}'", '"{}"', "`{}`", "<{}>", "{},{}", "{}\u200b", "\ufeff{}",
)  # fmt: skip
KEY_STYLES = ("{} ", " {}", "{}s", "_{}", "{}:", "'{}'", "{}\u200b", "the_{}")  # of an argument's name


class RunToolCall(LabTest):
    def setUp(self):
        self.recorder = Tools()

    def calling(self, row):
        """Return the call of a row; its table is the recorder's, unless it has one of its own."""
        return partial(lab.run_tool_call, row.call, getattr(row, "tools", self.recorder.table()))

    def no_tool_ran(self, row):
        hint = "Which of your checks come after the line that runs the function?"
        self.check("the tools that ran", self.recorder.calls, [], "a refused call runs no tool (R4)", hint)

    def refuses_calls(self, rows, **common):
        """Fail unless each call is refused and no tool has run (R4). Return the messages."""
        return self.refuses_each(lab.ToolCallError, self.calling, rows, after=self.no_tool_ran, **common)

    def test_r1_r5_takes_a_tool_and_its_arguments_and_runs_it_once(self):
        """R1 A call has two keys, tool and arguments. ToolCallError names the one that is missing or extra.
        R5 A good call runs its function once and returns (name, result); an exception of the function passes through.

        Hint R1: Who promises that call is a dict? And when it is one: which keys may it have?
        Hint R5: What does the function receive, and how? When it fails: which lines are inside your try?
        """
        self.refuses_calls([
            *[
                Row("a call that is not a dict", call=call)
                for call in (None, HOURS, 5, ["tool", "arguments"], json.dumps(HOURS_CALL))
            ],
            Row("arguments is missing", call={"tool": HOURS}, names="arguments"),
            Row("tool is missing", call={"arguments": {}}, names="tool"),
            Row("a key too many", call={**HOURS_CALL, fresh.name("reason"): ""}, names=fresh.name("reason")),
            Row("a key too many", call={**HOURS_CALL, "category": DELIVERY}, names="category"),
            Row("a key with a capital letter is another one", call={"Tool": HOURS, "arguments": {}}),
            Row("a key by another name", call={"name": HOURS, "arguments": {}}),
            Row("a key by another name", call={"tool": HOURS, "parameters": {}}),
            Row("a call inside a list", call=[HOURS_CALL]),
            Row("a call inside an object", call={"tool_call": HOURS_CALL}),
        ], clause="R1")
        self.returns_each(self.calling, [
            Row("the result is returned as it is", call=TRACK_CALL, gives=(TRACK, TRACKED)),
            Row("None is a result too", call=HOURS_CALL, gives=(HOURS, None)),
        ], clause="R5")
        with self.subTest(clause="R5", because="each function is called exactly once"):
            names = [name for name, _ in self.recorder.calls]
            counts = {name: names.count(name) for name in sorted(names)}
            self.check("how often each function was called", counts, {HOURS: 1, TRACK: 1})
            self.check("the arguments of the first", self.recorder.calls[0][1], TRACKING)
        depot = fresh.text("the depot does not answer")
        for error in (KeyError(depot), TypeError(depot), ValueError(depot), RuntimeError(depot)):

            def broken(failure=error):
                raise failure

            with self.subTest(clause="R5", because="a tool that fails is not a bad call: its exception passes through"):
                tools = {HOURS: {"function": lambda: broken(), "parameters": {}}}
                self.passes_on(error, lab.run_tool_call, HOURS_CALL, tools)

    def test_r2_runs_only_tools_of_the_whitelist(self):
        """R2 Only a tool on the list runs. Another name is refused by name, and so is a name that is not a str.
        R4 When a call is turned down, no tool has run.

        Hint R2: The name comes out of a reply: it can be of any type, and a name that is nearly right is another
        name. What does your code compare, and with what?
        """
        others = [
            fresh.name("delete_customer"), HOURS.title(), HOURS.upper(), HOURS[:-1], HOURS[1:], HOURS + "s", "",
            "__class__",
            "".join(chr(ord(char) + 0xFEE0) for char in HOURS),
            *[form.format(HOURS, TRACK) for form in STYLES],
        ]  # fmt: skip
        named = [name for name in others if name.isascii() and name.replace("_", "").isalnum()]
        self.refuses_calls([
            Row("it is not on the list, letter by letter", call=call_of(name), names=name if name in named else "")
            for name in others
        ], clause="R2")
        self.refuses_calls([Row("the list is empty", call=HOURS_CALL, tools={}, names=HOURS)], clause="R2")
        self.refuses_calls([
            Row("a name that is not a text; a list or dict cannot even be looked up", call=call_of(name))
            for name in ([HOURS], {HOURS: 1}, None, 5, True)
        ], clause="R2")
        right = Row("the tool is on the list", call=HOURS_CALL, gives=(HOURS, None))
        self.returns_each(self.calling, [right], clause="R2")
        tool = {"function": lambda: None, "parameters": {}}
        self.returns_each(lambda row: partial(lab.run_tool_call, call_of(row.name), {row.name: tool}), [
            Row("a name on the list is right, however it is spelled", name=name, gives=(name, None))
            for name in (*LOOKS_BROKEN, *others)
        ], clause="R2")

    def test_r3_r4_wants_exactly_the_declared_arguments(self):
        """R3 The arguments are as declared: these names, values of these types. The message names the parameter.
        R4 When a call is turned down, no tool has run.

        Hint R3: For each declared parameter: is it there, and of which type is its value? What does isinstance say
        about True and int? And which arguments are not declared?
        """
        tracking = lambda **changes: call_of(TRACK, **{**TRACKING, **changes})
        refunding = lambda **changes: call_of(REFUND, **{AMOUNT: PRICE, EXPRESS: True, **changes})
        missing = self.refuses_calls([
            Row("the text is missing", names=CARRIER, call=call_of(TRACK, **{NUMBER: ORDER})),
            Row("the number is missing", names=NUMBER, call=call_of(TRACK, **{CARRIER: SENDER})),
        ], clause="R3")
        with self.subTest(clause="R3", because="a message that is the same for every parameter does not name one"):
            self.check("how many messages differ when another parameter is missing", len(set(missing)), 2)
        speed, when = fresh.names("speed", "when")
        self.refuses_calls([
            Row("one argument too many", names=speed, call=tracking(**{speed: 2})),
            Row("a tool without parameters takes none", names=when, call=call_of(HOURS, **{when: "now"})),
            Row("a text is not converted", names=NUMBER, call=tracking(**{NUMBER: str(ORDER)})),
            Row("a float that equals an int is a float", names=NUMBER, call=tracking(**{NUMBER: float(ORDER)})),
            Row("true is a bool, and bool is a kind of int", names=NUMBER, call=tracking(**{NUMBER: True})),
            Row("null is not an int", names=NUMBER, call=tracking(**{NUMBER: None})),
            Row("a list is not an int", names=NUMBER, call=tracking(**{NUMBER: [ORDER]})),
            Row("an empty text is not an int", names=NUMBER, call=tracking(**{NUMBER: ""})),
            Row("the last argument is checked before the tool runs", names=CARRIER, call=tracking(**{CARRIER: 5})),
            Row("null is not a str", names=CARRIER, call=tracking(**{CARRIER: None})),
            Row("a list is not a str", names=CARRIER, call=tracking(**{CARRIER: [SENDER]})),
            Row("true is not a str", names=CARRIER, call=tracking(**{CARRIER: True})),
            Row("an int is not a float: nothing is converted", names=AMOUNT, call=refunding(**{AMOUNT: int(PRICE)})),
            Row("a text is not converted", names=AMOUNT, call=refunding(**{AMOUNT: str(PRICE)})),
            Row("true is not a float", names=AMOUNT, call=refunding(**{AMOUNT: True})),
            Row("1 equals true and is an int", names=EXPRESS, call=refunding(**{EXPRESS: 1})),
            Row("0.0 equals false and is a float", names=EXPRESS, call=refunding(**{EXPRESS: 0.0})),
            *[
                Row("a text is not a bool", names=EXPRESS, call=refunding(**{EXPRESS: text}))
                for text in ("yes", "true", "False", "")
            ],
        ], clause="R3")
        self.refuses_calls([
            Row("a name in another style is another name", call=call_of(TRACK, **{name: ORDER, CARRIER: SENDER}))
            for name in (NUMBER.upper(), NUMBER.title(), *[form.format(NUMBER) for form in KEY_STYLES])
        ], clause="R3")
        self.refuses_calls([
            Row("a list is not a dict", call={"tool": TRACK, "arguments": [ORDER, SENDER]}),
            Row("a list of pairs is not a dict", call={"tool": TRACK, "arguments": [*map(list, TRACKING.items())]}),
            Row("JSON inside a text is not decoded", call={"tool": TRACK, "arguments": json.dumps(TRACKING)}),
            Row("one value is not a dict", call={"tool": TRACK, "arguments": ORDER}),
            *[
                Row("nothing is not an empty dict", call={"tool": HOURS, "arguments": nothing})
                for nothing in ([], None, "", "{}", " ", "null", 0, False, "none")
            ],
            Row("a dict inside a list is not a dict", call={"tool": HOURS, "arguments": [{}]}),
        ], clause="R3", names="arguments")
        recorder = self.recorder = Tools()
        falsy, empty = {AMOUNT: 0.0, EXPRESS: False}, {NUMBER: 0, CARRIER: ""}
        nothing_sent = {**TRACKED, "days": -1000}
        ordinary = dict.fromkeys("tool name call tools function arguments parameters args kwargs self".split(), "a")
        counting = {HOURS: {"function": lambda **given: len(given), "parameters": dict.fromkeys(ordinary, str)}}
        self.returns_each(self.calling, [
            Row("values of the declared types", call=refunding(), gives=(REFUND, [PRICE, True])),
            Row("0.0 is a float, and false a bool", call=refunding(**falsy), gives=(REFUND, [0.0, False])),
            Row("0 is an int, and an empty text is a str", call=call_of(TRACK, **empty), gives=(TRACK, nothing_sent)),
            Row("a parameter may be called like a variable of yours", gives=(HOURS, len(ordinary)), tools=counting,
                call={"tool": HOURS, "arguments": ordinary}),
        ], clause="R3")
        arguments = lambda row: self.check("what the tool received", recorder.calls[-1], (TRACK, row.call["arguments"]))
        self.returns_each(self.calling, [
            Row("a text is passed on letter by letter", call=tracking(**{CARRIER: text}))
            for text in (*LOOKS_BROKEN, " a ")
        ], clause="R3", gives=(TRACK, TRACKED), after=arguments)


OPTIONS = ("tools", "max_attempts", "max_tool_calls")
FALLBACK = {"category": None, "priority": None, "summary": TICKET, "needs_human": True}
SOME = 50  # edits that are tried where P2 has tried all of them on a bare answer
BATCH = 8  # refused replies that are tried within one ticket


def one_of_each(rows):
    """Return the first of the rows with the same edit; what is put between two tokens counts as put behind all."""
    alike = lambda row: row.because.replace("between two tokens", "behind the object")
    return list({alike(row): row for row in reversed(rows)}.values())


def wrong_forms(raw):
    """Return rows of the forms of a right reply that a function may be tempted to repair."""
    return [Row("a right reply in a wrong form", raw=form) for form in not_quite(raw)]


def some_of(rows, purpose):
    """Return SOME of the rows, drawn."""
    return fresh.random(purpose).sample(rows, min(SOME, len(rows)))


def edited_calls():
    """Return (rows, rows) of the edits of a tool call: those that still are that call, and those that are not one."""
    right, wrong = [], []
    for edit in edits(json.dumps(HOURS_CALL), fresh.random("triage")):
        same_call = same(said_by(edit.text), HOURS_CALL)
        (right if same_call else wrong).append(Row(edit.because, raw=edit.text, replies=[edit.text, RAW]))
    return right, one_of_each(wrong)


def edited_answers():
    """Return rows of the edits of an answer that are not JSON any more: what breaks P3 to P7 has tests of its own."""
    return one_of_each([row for row in edited()["P2"] if not hasattr(row, "gives")])


def nearly_a_reply():
    """Return replies that hold an answer or a tool call in a form that the contract does not have."""
    track, hours = TRACK_CALL, HOURS_CALL
    shapes = [
        {"tool_call": hours}, {"tool_calls": [hours]}, {"function_call": hours}, {"call": hours}, [hours],
        [track, hours],
        {"name": HOURS, "arguments": {}}, {"function": HOURS, "arguments": {}}, {"tool_name": HOURS, "arguments": {}},
        {"tool": HOURS, "parameters": {}}, {"tool": HOURS, "args": {}}, {"tool": HOURS, "input": {}}, {"tool": HOURS},
        {"tool": {"name": HOURS, "arguments": {}}}, {"tool": hours}, {"tool": [HOURS], "arguments": {}}, {HOURS: {}},
        {"type": "tool", **hours}, {"id": "1", **hours}, {"Tool": HOURS, "arguments": {}}, {**hours, **ANSWER},
        {"answer": ANSWER}, {"output": ANSWER}, {"result": ANSWER}, {"triage": ANSWER}, {"final": ANSWER},
        {"response": ANSWER}, {"arguments": ANSWER}, [ANSWER], [ANSWER, ANSWER], [hours, ANSWER],
        {"tool": None, **ANSWER}, {"tool": "", **ANSWER},
        "tool", ["tool"], ["tool", "arguments"], json.dumps(ANSWER), json.dumps(hours), 4, None, True, [], {}, "",
        *[{**track, "arguments": given} for given in (json.dumps(TRACKING), [TRACKING], [ORDER, SENDER], None, "")],
        *[{**track, "arguments": {**TRACKING, NUMBER: given}} for given in (str(ORDER), float(ORDER), True, None)],
        *[{**hours, "arguments": given} for given in ("{}", "", "null", None, [], [{}])],
        *[{**hours, "tool": form.format(HOURS, TRACK)} for form in STYLES], {**hours, "tool": HOURS.upper()},
    ]  # fmt: skip
    return [*map(json.dumps, shapes), b""]


class Triage(LabTest):
    def asking(self, row):
        """Return the call of triage for a row: its client plays `replies`, and its recorder has the tools."""
        row.client, row.recorder = Client(*row.replies, end=row.end), Tools()
        given = {name: value for name, value in vars(row).items() if name in OPTIONS}
        options = {"tools": row.recorder.table(), **given}
        return partial(lab.triage, row.ticket, row.client, categories=CATEGORIES, **options)

    def answers(self, rows, **common):
        """Fail unless each row ends in ANSWER after its `attempts` and `tool_calls`."""
        common = {"end": "which is a valid answer", **common}
        self.ends([row.with_common(common) for row in rows], ANSWER, fallback=False)

    def falls_back(self, rows, **common):
        """Fail unless each row ends in the fallback: no category or priority is guessed, and a human looks."""
        common = {"end": "after which the ticket falls back", **common}
        self.ends([row.with_common(common) for row in rows], FALLBACK, fallback=True)

    def ends(self, rows, fields, fallback):
        for row in rows:
            row.ticket, row.tool_calls = getattr(row, "ticket", TICKET), getattr(row, "tool_calls", 0)
            row.gives = {**fields, "attempts": row.attempts, "tool_calls": row.tool_calls, "fallback": fallback}
            if hasattr(row, "summary"):
                row.gives["summary"] = row.summary
        self.returns_each(self.asking, rows)

    def counted(self, row):
        """Check how often the client of a row was asked, and how often a tool has run."""
        self.check("how often the client was asked", len(row.client.seen), row.asked)
        if hasattr(row, "ran"):
            self.check("how often a tool has run", len(row.recorder.calls), row.ran)

    def saw(self, row):
        self.check("what the client was asked", row.client.seen, row.questions)

    def refuses_replies(self, rows, **common):
        """Fail unless each of these replies is refused: many in one ticket, alone where that goes wrong."""
        parts = [rows[first : first + BATCH] for first in range(0, len(rows), BATCH)]
        tickets = [
            Row("", replies=[row.raw for row in part], max_attempts=len(part), ticket=TICKET, end="") for part in parts
        ]
        calls = [self.asking(many) for many in tickets]
        self.ahead(calls)
        for part, many, made in zip(parts, tickets, calls):
            _, got, _ = self.outcome(made.func, made.args, made.keywords)
            given = {**FALLBACK, "attempts": len(part), "tool_calls": 0, "fallback": True}
            if not same(got, given) or many.recorder.calls or len(many.client.seen) != len(part):
                alone = [Row(row.because, replies=[row.raw, RAW]) for row in part]
                together = Row("each of these replies is refused", max_attempts=len(part), replies=many.replies)
                self.falls_back(alone, max_attempts=1, attempts=1, asked=1, ran=0, after=self.counted, **common)
                self.falls_back([together], attempts=len(part), asked=len(part), ran=0, after=self.counted, **common)

    def test_t1_t5_t8_holds_one_growing_conversation(self):
        """T1 The conversation begins with build_messages(...), and keeps every reply as it was.
        T5 A valid answer ends it: the four fields, the attempts and tool calls that it took, and fallback False.
        T8 The client sees the whole conversation so far. Its exceptions pass through: an outage is not a bad reply.
        T4 Each refusal costs an attempt and tells the client why, in the words of the TriageError.

        Hint T1: Go to the message that `got` names. Do you append the reply as it came, or what you made of it?
        Hint T4: Go to the message that `got` names. Which text do you append after a refusal, and when?
        Hint T5: Which line ends the loop, and which numbers does it return? Which reply was refused, and which ran?
        Hint T8: What do you give the client, and does it grow? Which of your lines can raise inside the try?
        """
        start = lab.build_messages(TICKET, CATEGORIES, Tools().table())
        hours = json.dumps(HOURS_CALL)
        self.answers([
            Row("the first reply is right", replies=[RAW], attempts=1, asked=1),
            Row("a tool call that ran is not an attempt", replies=[hours, RAW], attempts=1, tool_calls=1, asked=2),
        ], clause="T5", after=self.counted)
        self.answers([
            Row("the first question is what build_messages makes", replies=[RAW], attempts=1, questions=[start]),
        ], clause="T1", after=self.saw)
        long, unsorted = f" \n{TICKET * 50}\n ", [RETURNS, BILLING, DELIVERY]
        with self.subTest(clause="T1", because="ticket and categories go to build_messages as they are"):
            client, expected = Client(RAW), {**ANSWER, "attempts": 1, "tool_calls": 0, "fallback": False}
            self.returns(expected, lab.triage, long, client, categories=unsorted)
            self.check("what the client was asked", client.seen, [lab.build_messages(long, unsorted)])
        odd = f" ```json\n{BAD}\n``` \n"
        client, tools = Client(odd, WORSE, RAW), Tools().table()
        with self.subTest(clause="T5", because="the third reply is right"):
            expected = {**ANSWER, "attempts": 3, "tool_calls": 0, "fallback": False}
            self.returns(expected, lab.triage, TICKET, client, categories=CATEGORIES, tools=tools, max_attempts=3)
        with self.subTest(clause="T1", because="a reply is appended as it came, whatever is wrong with it"):
            begun = [asked[: len(start) + 1] for asked in client.seen]
            self.check("what the client was asked", begun, [start, *[[*start, assistant(odd)]] * 2])
        refusals = [refused(lab.parse_triage, raw, CATEGORIES) for raw in (odd, WORSE)]
        with self.subTest(clause="T4", because="the client is told what is wrong with this reply, not with another"):
            for number, (asked, told) in enumerate(zip(client.seen[1:], refusals), start=2):
                self.check(f"the last message of request {number}", asked[-1], told)
        with self.subTest(clause="T8", because="each question holds all that was said before, as it was said"):
            again = [*start, assistant(odd), refusals[0]]
            third = [*again, assistant(WORSE), refusals[1]]
            self.check("what the client was asked", client.seen, [start, again, third])
        outages = (ConnectionError("no route"), ValueError("bad gateway"), KeyError("choices"), TimeoutError())
        for outage in (*outages, lab.TriageError("quota")):
            with self.subTest(clause="T8", because="an outage is not a bad reply: it passes through"):
                client = Client(BAD, outage, RAW)
                self.passes_on(outage, lab.triage, TICKET, client, categories=CATEGORIES)
                self.check("how often the client was asked", len(client.seen), 2)

    def test_t2_t3_runs_tool_calls_up_to_the_limit(self):
        """T2 The key tool makes a reply a tool call. Its result goes to the client as JSON, and no attempt is spent.
        T3 One call too many does not run: the ticket falls back, and no attempt is spent.
        R5 A good call runs its function once and returns (name, result); an exception of the function passes through.

        Hint T2: Go to the message that `got` names. What does the client learn of a tool's result, in which form?
        Hint T3: Count on paper: how many calls have run when this reply comes? Do you look at the limit before you
        run the call, or after?
        Hint R5: When the tool fails: which lines are inside your try?
        """
        start = lab.build_messages(TICKET, CATEGORIES, Tools().table())
        fenced, hours = f"```\n{json.dumps(TRACK_CALL)}\n```", json.dumps(HOURS_CALL)
        once = [*start, assistant(fenced), {"role": "tool", "name": TRACK, "content": json.dumps(TRACKED)}]
        twice = [*once, assistant(hours), {"role": "tool", "name": HOURS, "content": "null"}]
        self.answers([
            Row(
                "the tool's result goes to the client under the tool's name",
                replies=[fenced, hours, RAW], attempts=1, tool_calls=2, questions=[start, once, twice],
            ),
        ], clause="T2", after=self.saw)
        self.answers([
            Row("three calls are allowed by default", replies=[*[hours] * 3, RAW], tool_calls=3, asked=4),
            Row("the limit is four calls", max_tool_calls=4, replies=[*[hours] * 4, RAW], tool_calls=4, asked=5),
        ], clause="T3", attempts=1, after=self.counted)
        self.falls_back([
            Row("the fourth call does not run, and is free", replies=[hours] * 4, tool_calls=3, asked=4, ran=3),
            Row("the limit is one call", max_tool_calls=1, replies=[hours, hours], tool_calls=1, asked=2, ran=1),
        ], clause="T3", attempts=0, after=self.counted)
        for result in ("", 0, False, [], {}, json.dumps(ANSWER), fresh.text("Łódź"), [None, 1.0, {"b": 1, "a": 2}]):
            with self.subTest(clause="T2", because="each result goes to the client as JSON, texts and falsy ones too"):
                client = Client(hours, RAW)
                tools = {HOURS: {"function": lambda result=result: result, "parameters": {}}}
                expected = {**ANSWER, "attempts": 1, "tool_calls": 1, "fallback": False}
                self.returns(expected, lab.triage, TICKET, client, categories=CATEGORIES, tools=tools)
                told = {"role": "tool", "name": HOURS, "content": json.dumps(result)}
                self.check("the last message of request 2", client.seen[1][-1], told)
        depot = fresh.text("the depot does not answer")
        for failure in (TypeError(depot), ValueError(depot), RuntimeError(depot)):

            def broken(failure=failure):
                raise failure

            with self.subTest(clause="R5", because="a tool that fails is not a bad reply: its exception passes through"):
                tools = {HOURS: {"function": lambda: broken(), "parameters": {}}}
                self.passes_on(failure, lab.triage, TICKET, Client(hours, RAW), categories=CATEGORIES, tools=tools)

    def test_t4_t6_t7_every_refused_reply_costs_an_attempt(self):
        """T4 Each refusal costs an attempt and tells the client why, in the words of the TriageError.
        T6 When the attempts are spent, the ticket falls back: no further question, and no category is guessed.
        T7 Attempts and tool calls are counted over the whole ticket.
        T2 The key tool makes a reply a tool call. Its result goes to the client as JSON, and no attempt is spent.
        P2 Only one JSON object is accepted; every other text is refused, not repaired.

        Hint T2: Which line decides that a reply is a tool call, and which line counts one that has run?
        Hint T4: Which line counts a refused reply? Does it count a refused tool call as well?
        Hint T5: How many replies were refused before this one?
        Hint T6: Does your loop look at the limit before it asks the client again? In which order do you strip and cut?
        Hint T7: Does any line set a counter back?
        Hint P2: Does the object of a tool call go through the same decoder as an answer?
        """
        unknown = call_of(fresh.name("delete_customer"))
        hours, track, bad_call, half = map(json.dumps, (HOURS_CALL, TRACK_CALL, unknown, {"tool": HOURS}))
        three = {"max_attempts": 3, "attempts": 3, "asked": 3}
        self.falls_back([
            Row("two refused replies are the limit by default", clause="T6", replies=[BAD, WORSE], attempts=2, asked=2),
            Row("the limit is one", clause="T6", max_attempts=1, replies=[BAD], attempts=1, asked=1),
            Row("the limit is three", clause="T6", replies=[BAD, "?", WORSE], **three),
            Row("bad calls and bad answers count together", clause="T4", replies=[bad_call, BAD], attempts=2, asked=2),
            Row("a call that did not run does not count", clause="T2", replies=[half, bad_call], attempts=2, asked=2),
        ], after=self.counted)
        self.falls_back([
            Row("a tool call gives no attempt back", replies=[BAD, hours, WORSE], attempts=2, tool_calls=1, asked=3),
            Row("a refusal gives no call back", replies=[hours, BAD, *[hours] * 3], attempts=1, tool_calls=3, asked=5),
        ], clause="T7", after=self.counted)
        self.answers([
            Row("two refused replies, and then a right one", clause="T5", replies=[BAD, "?", RAW], **three),
            Row("a refused tool call costs an attempt", clause="T4", replies=[bad_call, RAW], attempts=2, asked=2),
            Row("it has the key tool", clause="T2", replies=[reply(tool=HOURS), RAW], attempts=2, asked=2),
        ], after=self.counted)
        inside = track.replace(f'"{NUMBER}"', f'"{NUMBER}": 1, "{NUMBER}"')
        outside = f'{{"tool": "{HOURS}", "arguments": {{"{NUMBER}": 1}}, "arguments": {{}}}}'
        no_number = json.dumps(call_of(REFUND, **{AMOUNT: float("nan"), EXPRESS: True}))
        self.answers([
            Row("NaN in a tool call is not JSON either", replies=[no_number, RAW]),
            Row("a key given twice in a tool call", replies=[outside, RAW]),
            Row("an argument given twice in a tool call", replies=[inside, RAW]),
        ], clause="P2", attempts=2, asked=2, ran=0, after=self.counted)
        right, wrong = edited_calls()
        self.answers(right, clause="P2", max_attempts=1, attempts=1, tool_calls=1)
        others = [*wrong_forms(RAW), *wrong_forms(hours)]
        self.refuses_replies([*some_of(wrong, "a tool call"), *others], clause="P2")
        self.refuses_replies([
            Row("this is neither an answer nor a tool call", raw=raw) for raw in nearly_a_reply()
        ], clause="T2")
        start, table = lab.build_messages(TICKET, CATEGORIES, Tools().table()), Tools().table()
        for because, clause, raw, told in [
            ("the client is told why its call is refused", "T4", bad_call, refused(lab.run_tool_call, unknown, table)),
            ("half a call is not an answer", "T2", half, refused(lab.run_tool_call, json.loads(half), table)),
            ("the client is told what it gave twice", "P2", inside, {"role": "user", "content": Containing(NUMBER)}),
        ]:
            row = Row(because, replies=[raw, RAW], questions=[start, [*start, assistant(raw), told]])
            self.answers([row], clause=clause, attempts=2, after=self.saw)
        start = lab.build_messages(TICKET, CATEGORIES)
        questions = [start, [*start, assistant(hours), {"role": "user", "content": Containing("")}]]
        row = Row("tools=None: every tool call is refused", tools=None, replies=[hours, RAW], questions=questions)
        self.answers([row], clause="T4", attempts=2, after=self.saw)
        because = "a deeply nested call is refused, and showing it in a message does not fail"
        deep = [Row(because, replies=[track.replace(str(ORDER), value)]) for value in deep_values()[:8]]
        self.falls_back(deep, clause="T4", max_attempts=1, attempts=1)
        q, r, short = fresh.text("q"), fresh.text("r"), fresh.text("short")
        self.falls_back([
            Row("blanks go first, then 120 characters stay", ticket=f" \n{q * 130}\n", summary=q * 120),
            Row("the cut is made once, at 120 characters", ticket=f"{r * 119}  end", summary=f"{r * 119} "),
            Row("a short ticket stays whole", ticket=f" {short}\t", summary=short),
            Row("lines and blanks inside stay", ticket=f"{q}\n\n {r}  {short}", summary=f"{q}\n\n {r}  {short}"),
            Row("blanks are all that str.strip() takes off", ticket=f"\u3000{short}\u00a0", summary=short),
            Row("characters are counted, not bytes", ticket="\U0001f4e6" * 130, summary="\U0001f4e6" * 120),
            Row("an empty ticket has an empty summary", ticket=" \n", summary=""),
        ], clause="T6", replies=["?", "?"], attempts=2)


def case(name, replies, category=DELIVERY, needs_human=False):
    expected = {"category": category, "needs_human": needs_human}
    return {"id": name, "ticket": TICKET, "replies": replies, "expected": expected}


def client_for(record):
    """Return a client that repeats its last reply forever: how often it is asked does not matter here."""
    return Client(*record["replies"], *[record["replies"][-1]] * 9)


WRONG_CATEGORY = reply(category=OUTAGE)
RIGHT_AT_ONCE = case(fresh.name("right-at-once"), [RAW])
WRONG = case(fresh.name("wrong-category"), [WRONG_CATEGORY])
WITH_A_TOOL = case(fresh.name("right-with-a-tool"), [json.dumps(HOURS_CALL), RAW])
FELL_BACK = case(fresh.name("fell-back"), ["I cannot say.", "?", RAW])  # two refusals are the limit
RIGHT_LATER = case(fresh.name("right-later"), [BAD, RAW])
WRONG_FLAG = case(fresh.name("wrong-flag"), [RAW], needs_human=True)
OTHER_WORDS = case(fresh.name("right-but-for-the-rest"), [reply(priority=1, summary=fresh.text("Something else"))])
SEVEN_CASES = [RIGHT_AT_ONCE, WRONG, WITH_A_TOOL, FELL_BACK, RIGHT_LATER, WRONG_FLAG, OTHER_WORDS]


COUNTED = {  # by id: is it correct, and does it fall back?
    record["id"]: (record not in (WRONG, FELL_BACK, WRONG_FLAG), record is FELL_BACK) for record in SEVEN_CASES
}


def chosen(report, names):
    """Return these numbers of a report, where it has them."""
    return {name: report[name] for name in names if name in report} if isinstance(report, dict) else report


class Evaluate(LabTest):
    def evaluate(self, cases, *, failures=None, tools=None, **numbers):
        """Run evaluate and check these numbers of its report, and then its failures."""
        report = self.report(cases, tools)
        if isinstance(cases, list) and not same(chosen(report, numbers), numbers):
            self.find_the_case(cases, tools)
        self.check("evaluate(cases, client_for, ...)", chosen(report, numbers), numbers)
        if failures is not None:
            self.check("failures", report.get("failures"), failures)

    def report(self, cases, tools):
        return self.value_of("a report", lab.evaluate, cases, client_for, categories=CATEGORIES, tools=tools)

    def find_the_case(self, cases, tools):
        """Fail with the case that is not counted as it should be, if it is so alone as well."""
        for record in cases:
            answer, fell_back = COUNTED[record["id"]]
            numbers = {"total": 1, "correct": int(answer), "fallbacks": int(fell_back)}
            got = chosen(self.report([record], tools), numbers)
            self.check(f"evaluate([the case {record['id']!r}], ...)", got, numbers)

    def test_e1_e3_counts_every_case(self):
        """E1 Right means that category and needs_human are both as expected.
        E3 Every case counts, whether it comes from a list or from any other iterable.

        Hint E1: Which two fields make a case right, and what do you compare them with? Which arguments does
        triage need from evaluate?
        Hint E3: Does every case reach the line that counts it, also the one that falls back? How often do you read
        cases, and does a line of yours ask for its length?
        """
        recorder = Tools()
        with self.subTest(clause="E1", because="priority and summary are not compared, and a fallback is not correct"):
            self.evaluate(SEVEN_CASES, tools=recorder.table(), total=7, correct=4, fallbacks=1)
        with self.subTest(clause="E1", because="the tools are there for triage"):
            self.check("the tools that ran", recorder.calls, [(HOURS, {})])
        with self.subTest(clause="E3", because="a generator has no length and is read once"):
            cases = (record for record in [WITH_A_TOOL, FELL_BACK, RIGHT_LATER])
            self.evaluate(cases, tools=recorder.table(), total=3, correct=2, fallbacks=1)
        with self.subTest(clause="E3", because="two cases of one id are two cases"):
            self.evaluate([RIGHT_AT_ONCE, WRONG, WRONG], tools=recorder.table(), total=3, correct=1, fallbacks=0)
            again = {**WRONG, "replies": RIGHT_AT_ONCE["replies"]}
            self.evaluate((record for record in [WRONG, again]), tools=None, total=2, correct=1, fallbacks=0)
        with self.subTest(clause="E1", because="the ticket is given to triage as it is"):
            clients, spaced = [], {**RIGHT_AT_ONCE, "ticket": f" {TICKET}\n"}

            def recording(record):
                clients.append(client_for(record))
                return clients[-1]

            self.value_of("a report", lab.evaluate, [spaced], recording, categories=CATEGORIES)
            asked = [client.seen for client in clients]
            self.check("what the client was asked", asked, [[lab.build_messages(spaced["ticket"], CATEGORIES)]])
        with self.subTest(clause="E1", because="categories are equal, or they are two: a part of a name is another name"):
            alike = [DELIVERY, DELIVERY[:-1], f"{DELIVERY}s", f"un{DELIVERY}", DELIVERY.upper()]
            cases = [case(name, [reply(category=name)]) for name in alike]
            report = self.value_of("a report", lab.evaluate, cases, client_for, categories=alike)
            self.check("the report", chosen(report, ["total", "correct"]), {"total": 5, "correct": 1})
        with self.subTest(clause="E1", because="without tools a tool call is refused"):
            self.evaluate([RIGHT_AT_ONCE, WRONG, WITH_A_TOOL], total=3, correct=2, fallbacks=0)
        with self.subTest(clause="E3", because="an outage is not a wrong answer: it passes through"):
            outage = ConnectionError("no route")
            cases = [RIGHT_AT_ONCE, case(fresh.name("outage-here"), [outage]), WRONG]
            clients = {record["id"]: Client(*record["replies"]) for record in cases}
            self.passes_on(outage, lab.evaluate, cases, lambda record: clients[record["id"]], categories=CATEGORIES)

    def test_e2_reports_numbers_and_reasons(self):
        """E2 The report has five numbers and a failure (id, reason) for each case that is wrong or fell back, in order.
        A reason tells which field differs and how, or that the case fell back.

        Hint E2: For which cases is there a failure, and which two keys does it have? What do you divide by when
        the list of cases is empty?
        """
        with self.subTest(clause="E2", because="no cases give 0.0, not a division by zero"):
            self.evaluate([], total=0, correct=0, fallbacks=0, schema_valid=0, accuracy=0.0, failures=[])
        with self.subTest(clause="E2", because="three places, and a fallback counts in the denominator"):
            cases = [RIGHT_LATER, FELL_BACK, RIGHT_AT_ONCE]
            self.evaluate(cases, total=3, correct=2, fallbacks=1, schema_valid=2, accuracy=0.667)
        with self.subTest(clause="E2", because="one failure for each wrong or fallback case, in case order"):
            first, second, third = sorted(fresh.names("both-wrong", "fell-back-too", "wrong-flag-too"))
            both = case(second, [reply(category=RETURNS, needs_human=True)])  # second, third, first: nothing is sorted so
            fell, flag = {**FELL_BACK, "id": third}, {**WRONG_FLAG, "id": first}
            COUNTED.update({second: (False, False), third: (False, True), first: (False, False)})
            numbers = {"total": 4, "correct": 1, "fallbacks": 1, "schema_valid": 3, "accuracy": 0.25}
            self.evaluate([both, fell, RIGHT_LATER, flag], **numbers, failures=[
                {"id": second, "reason": Containing("category", DELIVERY, RETURNS, "needs_human", "false", "true")},
                {"id": third, "reason": Containing("back")},
                {"id": first, "reason": Containing("needs_human", "true", "false")},
            ])


MIN = "--min-accuracy"


class CommandLine(LabTest):
    SCENARIO = {
        "name": fresh.text("three tickets"),
        "categories": CATEGORIES,
        "min_accuracy": 0.6,
        "tools": {HOURS: {"parameters": {}, "results": [], "default": fresh.text("9 to 5")}},
    }
    CASES = [
        case(fresh.name("right"), [json.dumps(HOURS_CALL), RAW]),
        case(fresh.name("späť") + "\x1b[31m\n\u2028\ud800", [WRONG_CATEGORY]),
        case(fresh.name("again"), [RAW]),
    ]

    def run_main(self, arguments, cases=CASES, encoding="utf-8"):
        """Run main on a folder `tickets` with the scenario and these cases.

        Return (exit code, lines of stdout, lines of stderr).
        """
        files = {"tickets/scenario.json": json.dumps(self.SCENARIO), "tickets/cases.json": json.dumps(cases)}

        def main(arguments):
            return command_line(lab, arguments, files, encoding)

        code, out, err = self.value_of("an exit code", main, arguments)
        return code, out.splitlines(), err.splitlines()

    def test_c1_c4_command_line_prints_a_line_and_the_failures(self):
        """C1 The first line gives accuracy, correct, fallbacks and min_accuracy; each failure has a line below it.
        C2 The exit code is 0 at or above the threshold, and 1 below it.
        C3 A wrong scenario or command line gives exit code 2 and one line on stderr.
        C4 Text from replies and tickets is printed in a form that cannot upset a terminal.

        Hint: This test runs main over your functions. Run python starter/ticket_triage.py
        scenario/ticket_triage yourself: is the line as TASK.md C1 says, and does every failure get one line?
        """
        for row in [
            Row("0.667 reaches the scenario's 0.6", options=[], code=0, threshold="0.6", encoding="utf-8"),
            Row("equal is enough", options=[MIN, "0.667"], code=0, threshold="0.667", encoding="ascii"),
            Row("0.667 is below 0.9", options=[MIN, "0.9"], code=1, threshold="0.9", encoding="cp1252"),
            Row("0 is a threshold, not a missing one", options=[MIN, "0"], code=0, threshold="0.0", encoding="utf-8"),
        ]:
            with self.subTest(clause="C4", because=f"it works in every terminal, and this one shows {row.encoding}"):
                code, out, _ = self.run_main(["tickets", *row.options], encoding=row.encoding)
                with self.subTest(clause="C2", because=row.because):
                    self.check("the exit code", code, row.code)
                with self.subTest(clause="C1", because="a line for the result, and one for each failure"):
                    words = f"accuracy=0.667 correct=2/3 fallbacks=0 min_accuracy={row.threshold}"
                    self.check("the printed lines", out[-2:], [words, Containing("category", OUTAGE)])
                with self.subTest(clause="C4", because="ESC colours a terminal, U+2028 and a newline break a line"):
                    self.check("the line of the failure", out[-1:], [Containing("\\x1b[31m\\n\\u2028\\ud800: ")])
        with self.subTest(clause="C3", because="the recorded replies run out"):
            short = case(fresh.name("short"), ["?"])
            code, _, err = self.run_main(["tickets"], cases=[short])
            expected = (2, [Containing(f"'{short['id']}'")])
            self.check("the exit code and the last line on stderr", (code, err[-1:]), expected)


if __name__ == "__main__":
    unittest.main()
