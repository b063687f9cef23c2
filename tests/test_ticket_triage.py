"""The fifteen tests of the ticket triage lab. Read the names and first lines: they are the contract.

Each test both accepts and refuses something. A row of a table is a trap; `because` says why it is one.
"""

import json
import unittest
from functools import lru_cache, partial

import ticket_triage as lab
from labtest import Client, Containing, LabTest, Mismatch
from grader.line.session import command_line

CATEGORIES = ["billing", "delivery", "outage", "returns"]
TICKET = "My parcel </ticket> has been at the depot since Monday."
ANSWER = {"category": "delivery", "priority": 3, "summary": "Parcel stuck at depot", "needs_human": False}
RAW = json.dumps(ANSWER)
BAD = json.dumps({**ANSWER, "priority": 7})
WORSE = json.dumps({**ANSWER, "summary": "   "})


def reply(**changes):
    """Return a valid reply with some fields changed."""
    return json.dumps({**ANSWER, **changes})


def without(field):
    return json.dumps({name: value for name, value in ANSWER.items() if name != field})


@lru_cache(maxsize=None)
def deep_values():
    """Return JSON values nested about as deep as the decoder of this Python follows: some it reads, some it does not."""
    low, high = 1, 1 << 17
    while low < high:
        middle = (low + high + 1) // 2
        try:
            json.loads("[" * middle + "]" * middle)
            low = middle
        except RecursionError:
            high = middle - 1
    depths = range(low - 4, low + 4)
    if low < 1200:  # before Python 3.12 the frames of functions count as well, and a worker has fewer
        depths = range(low - 4, low + 32, 3)
    return ["[" * depth + "]" * depth for depth in depths]


class Tools:
    """A whitelist of three tools that records what was called."""

    def __init__(self):
        self.calls = []

    def table(self):
        return {
            "track": {"function": self.track, "parameters": {"number": int, "carrier": str}},
            "refund": {"function": self.refund, "parameters": {"amount": float, "express": bool}},
            "hours": {"function": self.hours, "parameters": {}},
        }

    def track(self, number, carrier):
        self.calls.append(("track", number, carrier))
        return {"place": "Łódź", "days": number - 1000}

    def refund(self, amount, express):
        self.calls.append(("refund", amount, express))
        return [amount, express]

    def hours(self):
        self.calls.append(("hours",))
        return None


TRACK = {"tool": "track", "arguments": {"carrier": "north", "number": 1007}}  # not in the order of the parameters
HOURS = {"tool": "hours", "arguments": {}}


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
    def test_p1_takes_off_whitespace_and_one_closed_fence(self):
        """P1 Around the object there may be whitespace, and inside that one Markdown fence that is closed.

        Hint: A fence has two parts, a first line and an end. Which of the two does this reply have? And are
        there backticks that are no fence?
        """
        quoting = {**ANSWER, "summary": "Run ```npm ci``` or ``` again"}
        accepted = [
            (RAW, ANSWER, "there is nothing to take off"),
            (f" \n\t{RAW}\n\n", ANSWER, "models send blank lines"),
            (f"```\n{RAW}\n```", ANSWER, "a fence"),
            (f"```json\n{RAW}\n```", ANSWER, "a fence that names the format"),
            (f"\n  ```json\n{json.dumps(ANSWER, indent=2)}\n```  \n", ANSWER, "whitespace goes first, then the fence"),
            (json.dumps(quoting), quoting, "backticks inside a JSON string are text"),
            (f"```json\n{json.dumps(quoting, indent=2)}\n```", quoting, "the last ``` closes the fence, not the first"),
        ]
        refused_replies = [
            (f"```json\n{RAW}", "a fence that is not closed is no fence: the reply may be cut short"),
            (f"```json\n{RAW}\n``", "two backticks close no fence"),
            (f"{RAW}\n```", "a fence that is not opened is no fence"),
            (f"```\n```json\n{RAW}\n```\n```", "one fence is taken off, not two"),
            (f"```yaml\n{RAW}\n```", "only ``` and ```json open a fence"),
            (f"Here it is:\n```json\n{RAW}\n```", "the fence surrounds the whole reply, or it is no fence"),
            (f"```json\n{RAW}\n```\nAnything else?", "the closing ``` ends the reply"),
        ]
        self.ahead(partial(lab.parse_triage, raw, CATEGORIES) for raw, *_ in accepted + refused_replies)
        for raw, expected, because in accepted:
            with self.subTest(clause="P1", because=because):
                self.returns(expected, lab.parse_triage, raw, CATEGORIES)
        for raw, because in refused_replies:
            with self.subTest(clause="P1", because=because):
                self.refuses(lab.TriageError, "", lab.parse_triage, raw, CATEGORIES)

    def test_p2_refuses_all_but_one_json_object(self):
        """P2 Nothing but one JSON object is taken; whatever else comes is refused, not mended.
        P8 No reply can cause an exception but TriageError, and its message names the field.

        Hint: The decoder can fail in more than one way, and it accepts more than JSON. Which exceptions can it
        raise here? What is parse_constant of json.loads for?
        """
        with self.subTest(clause="P2", because="blanks between the parts of an object are JSON too"):
            self.returns(ANSWER, lab.parse_triage, json.dumps(ANSWER, indent=3).replace("P", "\\u0050"), CATEGORIES)
        refused_replies = [
            ("", "nothing came"),
            ("\ud800", "half a character, which UTF-8 cannot hold"),
            (" \n ", "nothing but blanks came"),
            ("The parcel is late.", "prose"),
            (f"Sure! {RAW}", "prose before the object: do not search for it"),
            (f"{RAW} Is that right?", "prose after the object"),
            (f"{RAW}\n{RAW}", "two objects: which one counts?"),
            (RAW[:-9], "the reply was cut short"),
            (RAW[:-1], "the last brace is missing: do not repair"),
            (f"[{RAW}]", "an array, although it holds a right object"),
            ("4", "a number is JSON, and no object"),
            (json.dumps(RAW), "a JSON string, although it holds a right object"),
            ("null", "null is JSON, and no object"),
            (RAW.replace('"', "'"), "single quotes are Python, not JSON"),
            (RAW[:-1] + ",}", "a comma too many: do not repair"),
            (RAW.replace("3", "NaN"), "Python reads NaN, and JSON has none"),
            (RAW.replace("3", "-Infinity"), "Python reads Infinity, and JSON has none"),
            (RAW.replace("3", "7" * 5000), "int() gives up on so many digits, with a plain ValueError"),
            ("[" * 100_000, "the decoder gives up on deep nesting, with a RecursionError"),
        ]
        no_texts = (None, 7, RAW.encode(), ANSWER, [RAW])
        deep = [RAW.replace("3", value) for value in deep_values()]
        self.ahead(partial(lab.parse_triage, raw, CATEGORIES) for raw in (*[raw for raw, _ in refused_replies], *no_texts, *deep))
        for raw, because in refused_replies:
            with self.subTest(clause="P2", because=because):
                self.refuses(lab.TriageError, "", lab.parse_triage, raw, CATEGORIES)
        for raw in no_texts:
            with self.subTest(clause="P2", because="a client can return something that is no text at all"):
                self.refuses(lab.TriageError, "", lab.parse_triage, raw, CATEGORIES)
        for raw in deep:
            with self.subTest(clause="P8", because="showing a value nested this deep in a message can fail by itself"):
                self.refuses(lab.TriageError, "", lab.parse_triage, raw, CATEGORIES)

    def test_p3_wants_exactly_the_four_fields_each_once(self):
        """P3 There are four fields and no others: category, priority, summary, needs_human. A wrong one is named.
        P2 Nothing but one JSON object is taken; whatever else comes is refused, not mended.
        P9 The result is a dict with these four fields and nothing else, the summary stripped.

        Hint: An object can lack one field and have another one too many, so the number of its fields proves
        nothing. What has become of a key that was given twice once you hold a dict? Look up object_pairs_hook.
        """
        with self.subTest(clause="P9", because="the order of the fields is free"):
            backwards = json.dumps(dict(reversed(ANSWER.items())))
            self.returns(ANSWER, lab.parse_triage, backwards, CATEGORIES)
        messages = set()
        self.ahead(partial(lab.parse_triage, without(field), CATEGORIES) for field in ANSWER)
        for field in ANSWER:
            with self.subTest(clause="P3", because=f"{field} is missing"):
                messages.add(self.refuses(lab.TriageError, field, lab.parse_triage, without(field), CATEGORIES))
        with self.subTest(clause="P3", because="a message that is the same for every field names none"):
            self.check("how many messages differ when another field is missing", len(messages), 4)
        for raw, because in (("{}", "an object with no field at all"), (RAW.replace("category", "kind"), "four fields, and not the four")):
            with self.subTest(clause="P3", because=because):
                self.refuses(lab.TriageError, "", lab.parse_triage, raw, CATEGORIES)
        more = (("confidence", 0.9), ("Category", "billing"), ("notes", None), ("", 1))
        self.ahead(partial(lab.parse_triage, reply(**{extra: value}), CATEGORIES) for extra, value in more)
        for extra, value in more:
            with self.subTest(clause="P3", because=f"{extra!r} is one field too many"):
                self.refuses(lab.TriageError, extra, lab.parse_triage, reply(**{extra: value}), CATEGORIES)
        twice = [
            ("category", '{"category": "billing", ' + RAW[1:], "the decoder keeps the last and says nothing"),
            ("priority", RAW[:-1] + ', "priority": 3}', "twice the same value is still twice"),
            ("needs_human", RAW[:-1] + ', "needs_hum\\u0061n": true}', "\\u0061 is an a: the same key"),
        ]
        self.ahead(partial(lab.parse_triage, raw, CATEGORIES) for _, raw, _ in twice)
        for field, raw, because in twice:
            with self.subTest(clause="P2", because=because):
                self.refuses(lab.TriageError, field, lab.parse_triage, raw, CATEGORIES)

    def test_p4_category_is_one_of_the_categories(self):
        """P4 category is one of the given names, whichever container holds them.
        P8 No reply can cause an exception but TriageError, and its message names the field.

        Hint: What happens when you look up a list in a set? Which question comes first: of which type is the
        value, or is it among the categories?
        """
        wrong = [
            ("refunds", "it is not among the categories"),
            ("Delivery", "names are compared letter by letter"),
            (" delivery ", "only the summary is stripped"),
            ("deliver", "a part of a name is no name"),
            ("", "an empty name is part of every name"),
            (["delivery"], "a list cannot be looked up in a set: TypeError"),
            ({"delivery": 1}, "an object cannot be looked up in a set: TypeError"),
            (None, "null is no category"),
            (True, "true is no category"),
            (2, "a position is no category"),
        ]
        for container in (list, tuple, set, frozenset):
            categories = container(CATEGORIES)
            with self.subTest(clause="P4", because=f"it is in the {container.__name__}"):
                expected = {**ANSWER, "category": "returns"}
                self.returns(expected, lab.parse_triage, reply(category="returns"), categories)
            rows = wrong if container is list else wrong[3:7]
            self.ahead(partial(lab.parse_triage, reply(category=category), categories) for category, _ in rows)
            for category, because in rows:
                with self.subTest(clause="P4", because=because):
                    self.refuses(lab.TriageError, "category", lab.parse_triage, reply(category=category), categories)

    def test_p5_p7_priority_is_an_int_and_needs_human_a_bool(self):
        """P5 priority is 1, 2, 3 or 4, and nothing passes for one of these that only looks like it.
        P7 needs_human takes the two JSON booleans and nothing else.
        P8 No reply can cause an exception but TriageError, and its message names the field.

        Hint: Try isinstance(True, int), True == 1 and 2.0 == 2 in the interpreter. Which check tells them
        apart?
        """
        wrong_priorities = [
            ("true", "true is a bool, and bool is a kind of int"),
            ("false", "false is a bool, and bool is a kind of int"),
            ("2.0", "2.0 equals 2 and is a float"),
            ("1e400", "1e400 is read as an infinite float"),
            ('"2"', "a text is not converted"),
            ("null", "null is no number"),
            ("[2]", "a list is no number"),
            ("0", "0 is below 1"),
            ("5", "5 is above 4"),
            ("-3", "-3 is below 1"),
        ]
        for priority in (1, 2, 3, 4):
            with self.subTest(clause="P5", because="1 and 4 are in"):
                self.returns({**ANSWER, "priority": priority}, lab.parse_triage, reply(priority=priority), CATEGORIES)
        self.ahead(partial(lab.parse_triage, RAW.replace("3", priority), CATEGORIES) for priority, _ in wrong_priorities)
        for priority, because in wrong_priorities:
            with self.subTest(clause="P5", because=because):
                self.refuses(lab.TriageError, "priority", lab.parse_triage, RAW.replace("3", priority), CATEGORIES)
        for needs_human in (True, False):
            with self.subTest(clause="P7", because="false is an answer, not a missing one"):
                expected = {**ANSWER, "needs_human": needs_human}
                self.returns(expected, lab.parse_triage, reply(needs_human=needs_human), CATEGORIES)
        wrong_flags = [
            (0, "0 equals false and is an int"),
            (1, "1 equals true and is an int"),
            ("no", "a text that is not empty counts as true"),
            ("", "an empty text counts as false"),
            ("true", "a text is not converted"),
            (None, "null is no answer"),
            ([], "an empty list counts as false"),
        ]
        self.ahead(partial(lab.parse_triage, reply(needs_human=needs_human), CATEGORIES) for needs_human, _ in wrong_flags)
        for needs_human, because in wrong_flags:
            with self.subTest(clause="P7", because=because):
                raw = reply(needs_human=needs_human)
                self.refuses(lab.TriageError, "needs_human", lab.parse_triage, raw, CATEGORIES)
        with self.subTest(clause="P8", because="a message that is the same for every field names none"):
            raws = (reply(priority=7), reply(needs_human=7))
            messages = {self.refuses(lab.TriageError, "", lab.parse_triage, raw, CATEGORIES) for raw in raws}
            self.check("how many messages differ when another field is wrong", len(messages), 2)

    def test_p6_summary_has_1_to_120_characters_after_stripping(self):
        """P6 summary has 1 to 120 characters, blanks around it not counted; a longer one is refused, not cut.
        P9 The result is a dict with these four fields and nothing else, the summary stripped.

        Hint: Which text do you measure, and which text do you return?
        """
        accepted = [
            ("Late", "Late", "P6", "a short summary"),
            ("x", "x", "P6", "1 character is enough"),
            ("y" * 120, "y" * 120, "P6", "120 characters fit"),
            ("\n  " + "z" * 120 + " \t", "z" * 120, "P6", "it is counted after stripping"),
            ("包" * 120, "包" * 120, "P6", "characters are counted, not bytes"),
            ("Late \ud800\0", "Late \ud800\0", "P8", "half a character and a NUL are characters: do not encode"),
            ("  Two  words\n", "Two  words", "P9", "blanks inside stay, blanks around go"),
        ]
        wrong = [
            ("", "nothing is no summary"),
            (" \n\t ", "blanks are no summary"),
            ("z" * 121, "121 characters do not fit, and cutting would lose some in silence"),
            ("word " * 50, "a long text is refused, not cut"),
            (None, "null is no text"),
            (5, "a number is no text"),
            (["Late"], "a list is no text, although it has a length"),
        ]
        self.ahead(partial(lab.parse_triage, reply(summary=summary), CATEGORIES) for summary, *_ in accepted + wrong)
        for summary, expected, clause, because in accepted:
            with self.subTest(clause=clause, because=because):
                self.returns({**ANSWER, "summary": expected}, lab.parse_triage, reply(summary=summary), CATEGORIES)
        for summary, because in wrong:
            with self.subTest(clause="P6", because=because):
                self.refuses(lab.TriageError, "summary", lab.parse_triage, reply(summary=summary), CATEGORIES)


class RunToolCall(LabTest):
    def calls_ahead(self, calls):
        self.ahead(partial(lab.run_tool_call, call, Tools().table()) for call in calls)

    def refuses_call(self, named, call, tools=None):
        """Fail unless the call is refused with a message that has `named`, and no tool was run (R4). Return the message."""
        recorder = Tools()
        table = recorder.table() if tools is None else tools
        message = self.refuses(lab.ToolCallError, named, lab.run_tool_call, call, table)
        self.check("the tools that a refused call ran", recorder.calls, [])
        return message

    def test_r1_r5_takes_a_tool_and_its_arguments_and_runs_it_once(self):
        """R1 A call has two keys, tool and arguments. ToolCallError names the one that is missing or extra.
        R5 A good call runs its function once and gives (name, result); what the function raises comes out as it is.

        Hint: Who promises that call is a dict? And when the tool itself fails: is the call to blame?
        """
        recorder = Tools()
        results = [
            (TRACK, ("track", {"place": "Łódź", "days": 7}), "the result is passed on as it is"),
            (HOURS, ("hours", None), "None is a result too"),
        ]
        for call, expected, because in results:
            with self.subTest(clause="R5", because=because):
                self.returns(expected, lab.run_tool_call, call, recorder.table())
        with self.subTest(clause="R5", because="each function is called exactly once"):
            self.check("the tools that ran", recorder.calls, [("track", 1007, "north"), ("hours",)])
        for error in (KeyError("depot"), RuntimeError("the carrier does not answer")):

            def broken(failure=error):
                raise failure

            with self.subTest(clause="R5", because="a tool that fails is no bad call: its exception passes through"):
                tools = {"hours": {"function": lambda: broken(), "parameters": {}}}
                self.passes_on(error, lab.run_tool_call, HOURS, tools)
        no_dicts = (None, "hours", 5, ["tool", "arguments"])
        wrong = [
            ("arguments", {"tool": "hours"}),
            ("tool", {"arguments": {}}),
            ("reason", {**HOURS, "reason": "to know"}),
            ("category", {**HOURS, "category": "delivery"}),
        ]
        self.calls_ahead([*no_dicts, *[call for _, call in wrong]])
        for call in no_dicts:
            with self.subTest(clause="R1", because="a call that is no dict"):
                self.refuses_call("", call)
        for named, call in wrong:
            with self.subTest(clause="R1", because=f"{named} is missing, or one key too many"):
                self.refuses_call(named, call)

    def test_r2_runs_only_tools_of_the_whitelist(self):
        """R2 Only a tool on the list runs. Another name is refused by name, and what is no str is refused as well.
        R4 When a call is turned down, no tool has run.

        Hint: The name comes out of a reply, so it can be of any type. Can a value of every type be looked up in
        a dict?
        """
        with self.subTest(clause="R2", because="the tool is on the list"):
            self.returns(("hours", None), lab.run_tool_call, HOURS, Tools().table())
        other_names = ("delete_customer", "Hours", "hours ", "hour", "__class__", "")
        self.calls_ahead({"tool": name, "arguments": {}} for name in other_names)
        for name in other_names:
            with self.subTest(clause="R2", because=f"{name!r} is not on the list, letter by letter"):
                self.refuses_call(name, {"tool": name, "arguments": {}})
        with self.subTest(clause="R2", because="the list is empty"):
            self.refuses_call("hours", HOURS, tools={})
        no_names = (["hours"], {"hours": 1}, None, 5, True)
        self.calls_ahead({"tool": name, "arguments": {}} for name in no_names)
        for name in no_names:
            with self.subTest(clause="R2", because="a name that is no text; a list or dict cannot even be looked up"):
                self.refuses_call("", {"tool": name, "arguments": {}})

    def test_r3_r4_wants_exactly_the_declared_arguments(self):
        """R3 The arguments are as declared: these names, values of these types. The message names the parameter.
        R4 When a call is turned down, no tool has run.

        Hint: Which of your checks come after the tool was called? And what does isinstance say about True and
        int?
        """
        recorder = Tools()
        for amount, express in ((12.5, True), (0.0, False)):
            with self.subTest(clause="R3", because="values of the declared types, falsy ones too"):
                call = {"tool": "refund", "arguments": {"amount": amount, "express": express}}
                self.returns(("refund", [amount, express]), lab.run_tool_call, call, recorder.table())
        with self.subTest(clause="R3", because="0 is an int, and an empty text is a str"):
            call = {"tool": "track", "arguments": {"number": 0, "carrier": ""}}
            self.returns(("track", {"place": "Łódź", "days": -1000}), lab.run_tool_call, call, recorder.table())
        wrong = [
            ("carrier", "track", {"number": 1007}, "carrier is missing"),
            ("number", "track", {"carrier": "north"}, "number is missing"),
            ("speed", "track", {"number": 1007, "carrier": "north", "speed": 2}, "speed is one argument too many"),
            ("when", "hours", {"when": "now"}, "a tool without parameters takes none"),
            ("number", "track", {"number": "1007", "carrier": "north"}, "a text is not converted"),
            ("number", "track", {"number": 1007.0, "carrier": "north"}, "1007.0 equals 1007 and is a float"),
            ("number", "track", {"number": True, "carrier": "north"}, "true is a bool, and bool is a kind of int"),
            ("number", "track", {"number": None, "carrier": "north"}, "null is no int"),
            ("carrier", "track", {"number": 1007, "carrier": 5}, "the last argument is checked before the tool runs"),
            ("carrier", "track", {"number": 1007, "carrier": None}, "null is no str"),
            ("amount", "refund", {"amount": 12, "express": True}, "12 is an int: nothing is converted"),
            ("amount", "refund", {"amount": "12.5", "express": True}, "a text is not converted"),
            ("express", "refund", {"amount": 12.5, "express": 1}, "1 equals true and is an int"),
            ("express", "refund", {"amount": 12.5, "express": "yes"}, "a text is no bool"),
            ("arguments", "track", [1007, "north"], "a list is no dict"),
            ("arguments", "hours", [], "an empty list is no dict"),
            ("arguments", "hours", None, "null is no dict"),
            ("arguments", "hours", "{}", "JSON inside a text is not decoded"),
        ]
        self.calls_ahead({"tool": tool, "arguments": arguments} for _, tool, arguments, _ in wrong)
        messages = []
        for named, tool, arguments, because in wrong:
            with self.subTest(clause="R3", because=because):
                messages.append(self.refuses_call(named, {"tool": tool, "arguments": arguments}))
        with self.subTest(clause="R3", because="a message that is the same for every parameter names none"):
            self.check("how many messages differ when carrier or number is missing", len(set(messages[:2])), 2)


class Triage(LabTest):
    def triage(self, expected, client, **options):
        """Run triage on TICKET, check what it returns, and return what the client saw."""
        options.setdefault("categories", CATEGORIES)
        self.returns(expected, lab.triage, TICKET, client, **options)
        return client.seen

    def triages_ahead(self, calls):
        self.ahead(partial(lab.triage, TICKET, client, **options, categories=CATEGORIES) for client, options in calls)

    def answer(self, attempts, tool_calls):
        return {**ANSWER, "attempts": attempts, "tool_calls": tool_calls, "fallback": False}

    def fallback(self, attempts, tool_calls, summary=TICKET):
        """Return the fallback: no category or priority is guessed, a human looks."""
        guess = {"category": None, "priority": None, "summary": summary, "needs_human": True}
        return {**guess, "attempts": attempts, "tool_calls": tool_calls, "fallback": True}

    def test_t1_t5_t8_holds_one_growing_conversation(self):
        """T1 The conversation begins with build_messages(...), and keeps every reply as it was.
        T5 A valid answer ends it: the four fields, the attempts and tool calls that it took, and fallback False.
        T8 The client sees all that was said so far. An exception of its own goes up: an outage is no bad reply.
        T4 Each refusal spends an attempt and tells the client why, in the words of the TriageError.

        Hint: Go to the place that `got` names. Do you append the reply as it came, or what you made of it?
        Which of your lines can raise inside the try?
        """
        tools = Tools().table()
        start = lab.build_messages(TICKET, CATEGORIES, tools)
        with self.subTest(clause="T1", because="the ticket stands in the block that build_messages makes"):
            quoted = json.dumps(TICKET).replace("<", "\\u003c").replace(">", "\\u003e")
            self.check("build_messages(...)[-1]", start[-1], {"role": "user", "content": Containing(quoted)})
        client = Client(RAW)
        with self.subTest(clause="T5", because="the first reply is right"):
            self.triage(self.answer(1, 0), client, tools=tools)
        with self.subTest(clause="T1", because="the client is first asked what build_messages makes"):
            self.check("what the client was asked", client.seen, [start])
        with self.subTest(clause="T5", because="a tool call that ran is no attempt"):
            self.triage(self.answer(1, 1), Client(json.dumps(HOURS), RAW), tools=tools)
        odd = f" ```json\n{BAD}\n``` \n"
        client = Client(odd, WORSE, RAW)
        with self.subTest(clause="T5", because="the third reply is right"):
            self.triage(self.answer(3, 0), client, tools=tools, max_attempts=3)
        with self.subTest(clause="T1", because="a reply is appended as it came, whatever is wrong with it"):
            after_start = [asked[2:3] for asked in client.seen[1:]]
            self.check("what follows the start when the client is asked again", after_start, [[assistant(odd)]] * 2)
        with self.subTest(clause="T4", because="the client is told what is wrong with this reply, not with another"):
            told = [refused(lab.parse_triage, raw, CATEGORIES) for raw in (odd, WORSE)]
            self.check("the last message when the client is asked again", [asked[-1] for asked in client.seen[1:]], told)
        with self.subTest(clause="T8", because="each question holds all that was said before, as it was said"):
            again = start + [assistant(odd), refused(lab.parse_triage, odd, CATEGORIES)]
            third = again + [assistant(WORSE), refused(lab.parse_triage, WORSE, CATEGORIES)]
            self.check("what the client was asked", client.seen, [start, again, third])
        outages = (ConnectionError("no route"), ValueError("bad gateway"), KeyError("choices"), TimeoutError(), lab.TriageError("quota"))
        for outage in outages:
            with self.subTest(clause="T8", because="an outage is no bad reply: it costs no attempt and passes through"):
                client = Client(BAD, outage, RAW)
                self.passes_on(outage, lab.triage, TICKET, client, categories=CATEGORIES)
                self.check("how often the client was asked", len(client.seen), 2)

    def test_t2_t3_runs_tool_calls_up_to_the_limit(self):
        """T2 The key tool makes a reply a tool call. Its result goes into the conversation as JSON, and no attempt is spent.
        T3 One call too many is not run: the ticket falls back, and no attempt is spent.
        R5 A good call runs its function once and gives (name, result); what the function raises comes out as it is.

        Hint: Count on paper: how many calls have run when this reply comes? Do you look at the limit before you
        run the call, or after?
        """
        recorder = Tools()
        tools = recorder.table()
        start = lab.build_messages(TICKET, CATEGORIES, tools)
        raw = f"```\n{json.dumps(TRACK)}\n```"
        with self.subTest(clause="T2", because="the tool's result goes to the client under the tool's name"):
            seen = self.triage(self.answer(1, 2), Client(raw, json.dumps(HOURS), RAW), tools=tools)
            once = start + [assistant(raw), {"role": "tool", "name": "track", "content": json.dumps(recorder.track(1007, ""))}]
            twice = once + [assistant(json.dumps(HOURS)), {"role": "tool", "name": "hours", "content": "null"}]
            self.check("what the client was asked", seen, [start, once, twice])
        limits = [
            ({}, [HOURS] * 3 + [ANSWER], self.answer(1, 3), 3, "three calls are allowed when nothing else is said"),
            ({}, [HOURS] * 5, self.fallback(0, 3), 3, "the fourth call does not run, and costs no attempt"),
            ({"max_tool_calls": 1}, [HOURS, HOURS, ANSWER], self.fallback(0, 1), 1, "the limit is one call"),
            ({"max_tool_calls": 4}, [HOURS] * 4 + [ANSWER], self.answer(1, 4), 4, "the limit is four calls"),
        ]
        for options, replies, expected, ran, because in limits:
            with self.subTest(clause="T3", because=because):
                recorder = Tools()
                client = Client(*map(json.dumps, replies))
                self.triage(expected, client, tools=recorder.table(), **options)
                self.check("the tools that ran", recorder.calls, [("hours",)] * ran)
                self.check("how often the client was asked", len(client.seen), ran + 1)
        failure = RuntimeError("the depot does not answer")

        def broken():
            raise failure

        with self.subTest(clause="R5", because="a tool that fails is no refused reply: its exception passes through"):
            tools = {"hours": {"function": broken, "parameters": {}}}
            self.passes_on(failure, lab.triage, TICKET, Client(json.dumps(HOURS), RAW), categories=CATEGORIES, tools=tools)

    def test_t4_t6_t7_every_refused_reply_costs_an_attempt(self):
        """T4 Each refusal spends an attempt and tells the client why, in the words of the TriageError.
        T6 When the attempts are spent, the ticket falls back. Nobody is asked again, and no category is guessed.
        T7 Attempts and tool calls are counted over the whole ticket.
        T2 The key tool makes a reply a tool call. Its result goes into the conversation as JSON, and no attempt is spent.
        P2 Nothing but one JSON object is taken; whatever else comes is refused, not mended.

        Hint: Which line counts a refused reply, and does any line set that count back? Does your loop look at
        the limit before it asks the client again?
        """
        unknown = {"tool": "delete_customer", "arguments": {}}
        hours, bad_call, half = json.dumps(HOURS), json.dumps(unknown), json.dumps({"tool": "hours"})
        not_a_number = '{"tool": "refund", "arguments": {"amount": NaN, "express": true}}'
        twice = '{"tool": "hours", "arguments": {"when": 1}, "arguments": {}}'
        inside = json.dumps(TRACK).replace('"number"', '"number": 1, "number"')
        rows = [
            ("T6", {}, [BAD, WORSE], self.fallback(2, 0), "two refused replies are the limit when nothing else is said"),
            ("T6", {"max_attempts": 1}, [BAD], self.fallback(1, 0), "the limit is one"),
            ("T6", {"max_attempts": 3}, [BAD, "?", WORSE], self.fallback(3, 0), "the limit is three"),
            ("T5", {"max_attempts": 3}, [BAD, "?", RAW], self.answer(3, 0), "two refused replies, and then a right one"),
            ("T4", {}, [bad_call, RAW], self.answer(2, 0), "a refused tool call costs an attempt as well"),
            ("T4", {}, [bad_call, BAD], self.fallback(2, 0), "bad calls and bad answers are counted together"),
            ("T2", {}, [half, bad_call], self.fallback(2, 0), "a tool call that did not run is not counted as one"),
            ("T2", {}, [reply(tool="hours"), RAW], self.answer(2, 0), "an answer with the key tool is a tool call"),
            ("P2", {}, [not_a_number, RAW], self.answer(2, 0), "NaN in a tool call is no JSON either"),
            ("P2", {}, [twice, RAW], self.answer(2, 0), "a key given twice in a tool call"),
            ("P2", {}, [inside, RAW], self.answer(2, 0), "an argument given twice in a tool call"),
            ("T7", {}, [BAD, hours, WORSE], self.fallback(2, 1), "a good tool call gives no attempt back"),
            ("T7", {}, [hours, BAD, hours, hours, hours], self.fallback(1, 3), "a bad reply gives no tool call back"),
        ]
        table = Tools().table()
        self.triages_ahead((Client(*replies, RAW), {"tools": table, **options}) for _, options, replies, _, _ in rows)
        for clause, options, replies, expected, because in rows:
            with self.subTest(clause=clause, because=because):
                client = Client(*replies, RAW)
                self.triage(expected, client, tools=table, **options)
                self.check("how often the client was asked", len(client.seen), len(replies))
        told = [
            ("T4", table, bad_call, lambda: refused(lab.run_tool_call, unknown, table), "the client is told why its tool call is refused"),
            ("T2", table, half, lambda: refused(lab.run_tool_call, json.loads(half), table), "half a call is no answer"),
            ("P2", table, inside, lambda: {"role": "user", "content": Containing("number")}, "the client is told what it gave twice"),
            ("T4", None, hours, lambda: {"role": "user", "content": Containing("")}, "tools=None: every tool call is refused"),
        ]
        for clause, tools, raw, message, because in told:
            start = lab.build_messages(TICKET, CATEGORIES, tools)
            with self.subTest(clause=clause, because=because):
                seen = self.triage(self.answer(2, 0), Client(raw, RAW), tools=tools)
                self.check("what the client was asked", seen, [start, start + [assistant(raw), message()]])
        deep_calls = [json.dumps(TRACK).replace("1007", value) for value in deep_values()[:8]]
        self.triages_ahead((Client(raw), {"tools": table, "max_attempts": 1}) for raw in deep_calls)
        for raw in deep_calls:
            with self.subTest(clause="T4", because="a call nested deep is refused, and showing it in a message does not fail"):
                self.triage(self.fallback(1, 0), Client(raw), tools=table, max_attempts=1)
        summaries = [
            (" \n" + "q" * 130 + "\n", "q" * 120, "blanks go first, then 120 characters stay"),
            ("r" * 119 + "  end", "r" * 119 + " ", "the cut is made once, at 120 characters"),
            (" short\t", "short", "a short ticket stays whole"),
        ]
        for ticket, summary, because in summaries:
            with self.subTest(clause="T6", because=because):
                expected = self.fallback(2, 0, summary)
                self.returns(expected, lab.triage, ticket, Client("?", "?"), categories=CATEGORIES)


def case(name, replies, category="delivery", needs_human=False):
    return {"id": name, "ticket": TICKET, "replies": replies, "expected": {"category": category, "needs_human": needs_human}}


def client_for(record):
    """Return a client that repeats its last reply for ever: how often it is asked is not looked at here."""
    return Client(*record["replies"], *[record["replies"][-1]] * 9)


WRONG_CATEGORY = reply(category="outage")
SEVEN_CASES = [
    case("right-at-once", [RAW]),
    case("wrong-category", [WRONG_CATEGORY]),
    case("right-with-a-tool", [json.dumps(HOURS), RAW]),
    case("fell-back", ["I cannot say."]),
    case("right-later", [BAD, RAW]),
    case("wrong-flag", [RAW], needs_human=True),
    case("right-but-for-the-rest", [reply(priority=1, summary="Something else")]),
]


class Evaluate(LabTest):
    NUMBERS = ("total", "correct", "fallbacks", "schema_valid", "accuracy")

    def evaluate(self, expected, cases, **options):
        """Run evaluate, check the first of its numbers, and return the failures."""
        report = self.value_of("a report", lab.evaluate, cases, client_for, categories=CATEGORIES, **options)
        expected = dict(zip(self.NUMBERS, expected))
        got = {name: report[name] for name in expected if name in report} if isinstance(report, dict) else report
        self.check("evaluate(cases, client_for, ...)", got, expected)
        return report.get("failures")

    def test_e1_e3_counts_every_case(self):
        """E1 Right means that category and needs_human are both as expected.
        E3 Every case counts, whether it comes from a list or from any other iterable.

        Hint: Does every case reach the line that counts it, also the one that falls back? Which arguments does
        triage need from evaluate?
        """
        recorder = Tools()
        with self.subTest(clause="E1", because="a wrong flag or a fallback is not correct; priority and summary are not compared"):
            self.evaluate((7, 4, 1), SEVEN_CASES, tools=recorder.table())
        with self.subTest(clause="E1", because="the tools are there for triage"):
            self.check("the tools that ran", recorder.calls, [("hours",)])
        with self.subTest(clause="E3", because="a generator has no length and is read once"):
            self.evaluate((3, 2, 1), (record for record in SEVEN_CASES[2:5]), tools=recorder.table())
        with self.subTest(clause="E1", because="without tools a tool call is refused"):
            self.evaluate((3, 2, 0), SEVEN_CASES[:3], tools=None)
        with self.subTest(clause="E3", because="an outage is no wrong answer: it passes through, and no case is skipped"):
            outage = ConnectionError("no route")
            cases = [SEVEN_CASES[0], case("outage", [outage]), SEVEN_CASES[1]]
            clients = {record["id"]: Client(*record["replies"]) for record in cases}
            self.passes_on(outage, lab.evaluate, cases, lambda record: clients[record["id"]], categories=CATEGORIES)

    def test_e2_reports_numbers_and_reasons(self):
        """E2 The report has five numbers and a failure (id, reason) for each case that is wrong or fell back, in order.
        A reason tells which field differs and how, or that the case fell back.

        Hint: For which cases is there a failure, and which two keys has it? What do you divide by when there
        are no cases?
        """
        with self.subTest(clause="E2", because="no cases give 0.0, not a division by zero"):
            self.check("failures", self.evaluate((0, 0, 0, 0, 0.0), []), [])
        with self.subTest(clause="E2", because="three places, and a fallback counts in the denominator"):
            self.evaluate((3, 2, 1, 2, 0.667), [SEVEN_CASES[4], SEVEN_CASES[3], SEVEN_CASES[0]])
        with self.subTest(clause="E2", because="one failure for each wrong or fallback case, in case order"):
            failures = self.evaluate((4, 1, 1, 3, 0.25), [
                case("both-wrong", [reply(category="returns", needs_human=True)]), *SEVEN_CASES[3:5], SEVEN_CASES[5],
            ])
            self.check("failures", failures, [
                {"id": "both-wrong", "reason": Containing("category", "delivery", "returns", "needs_human", "false", "true")},
                {"id": "fell-back", "reason": Containing("back")},
                {"id": "wrong-flag", "reason": Containing("needs_human", "true", "false")},
            ])


class CommandLine(LabTest):
    SCENARIO = {
        "name": "three tickets",
        "categories": CATEGORIES,
        "min_accuracy": 0.6,
        "tools": {"hours": {"parameters": {}, "results": [], "default": "9 to 5"}},
    }
    CASES = [case("right", [json.dumps(HOURS), RAW]), case("späť\x1b[31m\n\u2028\ud800", [WRONG_CATEGORY]), case("again", [RAW])]

    def run_main(self, arguments, scenario=SCENARIO, cases=CASES, encoding="utf-8"):
        """Run main on a folder `tickets` with these two files; return (exit code, lines of stdout, lines of stderr)."""
        text = lambda value: value if isinstance(value, str) else json.dumps(value)
        files = {"tickets/scenario.json": text(scenario), "tickets/cases.json": text(cases)}

        def main(arguments):
            return command_line(lab, arguments, files, encoding)

        code, out, err = self.value_of("an exit code", main, arguments)
        return code, out.splitlines(), err.splitlines()

    def test_c1_c4_command_line_prints_a_line_and_the_failures(self):
        """C1 The first line gives accuracy, correct, fallbacks and min_accuracy; each failure has a line of its own below.
        C2 The exit code is 0 at or above the threshold, and 1 below it.
        C3 A wrong scenario or command line gives exit code 2 and one line on stderr.
        C4 Text from replies and tickets is printed in a form that no terminal stumbles over.

        Hint: This test runs main over your functions. Run python starter/ticket_triage.py
        scenario/ticket_triage yourself: is the line as TASK.md C1 says, and does every failure get one line?
        """
        rows = [
            ([], 0, "0.6", "utf-8", "0.667 reaches the scenario's 0.6"),
            (["--min-accuracy", "0.667"], 0, "0.667", "ascii", "the option counts, and equal is enough"),
            (["--min-accuracy", "0.9"], 1, "0.9", "cp1252", "0.667 is below 0.9"),
            (["--min-accuracy", "0"], 0, "0.0", "utf-8", "0 is a threshold, not a missing one"),
        ]
        for options, expected, threshold, encoding, because in rows:
            with self.subTest(clause="C4", because=f"no terminal makes the program fail, and this one shows {encoding}"):
                code, out, _ = self.run_main(["tickets", *options], encoding=encoding)
                with self.subTest(clause="C2", because=because):
                    self.check("the exit code", code, expected)
                with self.subTest(clause="C1", because="the first line tells the result, and one line each failure"):
                    words = f"accuracy=0.667 correct=2/3 fallbacks=0 min_accuracy={threshold}"
                    self.check("the printed lines", out[-2:], [words, Containing("category", "outage")])
                with self.subTest(clause="C4", because="ESC colours a terminal, U+2028 and a newline break a line"):
                    self.check("the line of the failure", out[-1], Containing("\\x1b[31m\\n\\u2028\\ud800: "))
        broken = [
            ([], {}, "scenario", "no folder is named"),
            (["nowhere"], {}, "nowhere", "there is no such folder"),
            (["tickets", "--min-accuracy", "nan"], {}, "--min-accuracy", "nan is no number from 0 to 1"),
            (["tickets", "--min-accuracy", "1.5"], {}, "--min-accuracy", "1.5 is above 1"),
            (["tickets"], {"cases": '[{"id": "right",\n]'}, "cases.json: line 2 column 1", "the JSON is broken"),
            (["tickets"], {"cases": [self.CASES[0], self.CASES[0]]}, "'right'", "an id is used twice"),
            (["tickets"], {"cases": [case("lost", [RAW], "paint")]}, "'lost': expected: category", "no such category"),
            (["tickets"], {"cases": [{"id": "bare"}]}, "'bare': ticket", "a case lacks a field"),
            (["tickets"], {"scenario": {**self.SCENARIO, "min_accuracy": True}}, "min_accuracy", "true is no number"),
        ]
        for arguments, files, named, because in broken:
            with self.subTest(clause="C3", because=because):
                code, _, err = self.run_main(arguments, **files)
                self.check("the exit code and the lines on stderr", (code, err), (2, [Containing(named)]))
        with self.subTest(clause="C3", because="the recorded replies run out"):
            code, _, err = self.run_main(["tickets"], cases=[case("short", ["?"])])
            self.check("the exit code and the last line on stderr", (code, err[-1:]), (2, [Containing("'short'")]))


if __name__ == "__main__":
    unittest.main()
