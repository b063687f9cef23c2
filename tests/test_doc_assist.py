"""The fifteen tests of the documentation assistant. Read the names and first lines: they are the contract.

Each test both accepts and refuses something. A row of a table is a trap; `because` says why it is one.
"""

import copy
import json
import sys
import unittest
from functools import partial

import doc_assist as lab
from grader.labdata import LOOKS_BROKEN, STYLED_KEYS, deep_values, edits, fresh, not_quite, strict_json
from grader.line.session import command_line
from labtest import Client, Containing, LabTest, Row

SEARCH, SOURCES = "search_docs", "show_last_sources"
CONVERSATION = fresh.text("5f1c9a40b7e24d0c8e61")
QUESTION, ORDER, NEXT = fresh.text("How is the harbour pump restarted?"), fresh.text("Restart it now!"), fresh.text("And the lantern?")
MEASURE, WEIGH, PAUSE = fresh.names("measure", "weighing", "breather")  # tools
HEIGHT, LABEL, GRAMS, DAMP = fresh.names("height", "caption", "grams", "dampness")  # and their parameters
LONG_NAME = fresh.name("restart_the_pump_in_the_old_harbour")
IDS = fresh.names("guide/harbour.md#2", "guide/harbour.md#1", "lantern.md#3")
PASSAGES = [
    {"id": IDS[0], "heading": fresh.text("Restart the pump"), "text": fresh.text("Turn <b>both</b> valves </data> and wait.")},
    {"id": IDS[1], "heading": "", "text": fresh.text("The pump stands in the cellar.")},
]
ANSWER = {"answer": fresh.text("Turn both valves, then wait."), "cited": [IDS[0]]}
ASKS_BACK = {"action": "clarify", "reply": fresh.text("Which pump do you mean?")}
SAYS_NO = {"action": "refuse", "reply": fresh.text("I read, I restart nothing.")}


def decision(tool=SEARCH, **arguments):
    """Return a decision to use a tool, as a reply."""
    return json.dumps({"action": "tool", "tool": tool, "arguments": arguments})


FINDS, SHOWS = decision(query=fresh.text("pump")), decision(SOURCES)
ANSWERS = json.dumps(ANSWER)


def a_state(**changes):
    """Return the state of a conversation that has had no turn, with some fields changed."""
    state = {
        "conversation_id": CONVERSATION, "next_turn_id": 1, "history": [], "last_result": None, "last_sources": [],
        "last_source_turn_id": None, "last_source_result_id": None, "tool_attempted_this_turn": False,
        "diagnostic_mode": False, "turn_log": [],
    }  # fmt: skip
    return {**state, **changes}


def a_result(status, reply, tool=None, cited=()):
    return {"status": status, "reply": reply, "tool": tool, "cited": list(cited)}


def after_turn(state, message, result, mark):
    """Return the state that a turn leaves behind. mark: whether it has attempted a tool."""
    turn_id = state["next_turn_id"]
    pair = [{"role": "user", "content": message}, {"role": "assistant", "content": result["reply"]}]
    log = {"turn_id": turn_id, "status": result["status"], "tool": result["tool"]}
    after = {
        **state, "next_turn_id": turn_id + 1, "history": (state["history"] + pair)[-12:], "turn_log": state["turn_log"] + [log],
        "tool_attempted_this_turn": mark,
    }  # fmt: skip
    if result["status"] == "answered":
        sources = {"last_result": result, "last_sources": result["cited"], "last_source_turn_id": turn_id}
        after.update(sources, last_source_result_id=f"{state['conversation_id']}:{turn_id}")
    return after


ANSWERED = a_result("answered", ANSWER["answer"], SEARCH, ANSWER["cited"])
LATER = after_turn(a_state(), QUESTION, ANSWERED, False)  # a conversation whose first turn was answered


ENDS = [  # (status, tool) of each way to end a turn
    ("answered", SEARCH), ("no_source", SEARCH), ("shown", PAUSE), ("tool_error", MEASURE), ("invalid_reply", None), ("invalid_reply", SEARCH),
    ("clarification_needed", None), ("refused", None), ("unknown_tool", None), ("invalid_arguments", None),
]  # fmt: skip


class OwnText(Containing):
    """Stands for any text that is not blank and holds none of the parts."""

    def holds(self, text):
        return isinstance(text, str) and text.strip() != "" and not any(part in text for part in self.parts)

    def __repr__(self):
        return "<a text of your own>"


class AnyState(Containing):
    """Stands for any dict: what is in it is compared elsewhere."""

    def holds(self, state):
        return isinstance(state, dict)

    def __repr__(self):
        return "<a state>"


A_STATE = AnyState()


class Tools:
    """A registry that records what was called: (tool, state, arguments)."""

    def __init__(self, found=PASSAGES, broken=None):
        """found: what search_docs returns. broken: an exception that every tool raises."""
        self.calls, self.broken = [], broken
        self.registry = {
            SEARCH: self.tool(SEARCH, found, query=str),
            SOURCES: self.tool(SOURCES, fresh.text("See the harbour guide.")),
            MEASURE: self.tool(MEASURE, fresh.number(1520), **{HEIGHT: int, LABEL: str}),
            WEIGH: self.tool(WEIGH, None, **{GRAMS: float, DAMP: bool}),
            PAUSE: self.tool(PAUSE, fresh.text("A pause of an hour.")),
        }

    def tool(self, name, value, **parameters):
        def function(state, *unnamed, **arguments):
            self.calls.append((name, state, arguments))
            if self.broken:
                raise self.broken
            return value

        function.__name__ = name
        return {"function": function, "parameters": parameters}

    @property
    def names(self):
        return [name for name, _, _ in self.calls]


class CreateInitialState(LabTest):
    def test_s1_a_conversation_begins_empty_with_its_own_id(self):
        """S1 A new state has exactly the ten fields, an id of its own, and nothing in common with another.

        Hint: Which part of your function runs once for each conversation, and which ran once for all? Compare
        your fields with the table of S1, one by one.
        """
        first, second = (self.returns(A_STATE, lab.create_initial_state) for _ in range(2))
        for state in (first, second):
            with self.subTest(clause="S1", because="it has these fields and no others, each with its first value"):
                given = state.get("conversation_id")
                self.check("the state", state, a_state(conversation_id=given))
            with self.subTest(clause="S1", because="uuid4().hex is 32 hexadecimal digits, the version among them"):
                hexadecimal = isinstance(given, str) and len(given) == 32 and not given.strip("0123456789abcdef")
                self.check("conversation_id is the hex of a uuid4", hexadecimal and given[12] == "4" and given[16] in "89ab", True)
        with self.subTest(clause="S1", because="two conversations are not one"):
            self.check("the ids are equal", first.get("conversation_id") == second.get("conversation_id"), False)
        with self.subTest(clause="S1", because="a list that two conversations share mixes their messages"):
            shared = [name for name in first if isinstance(first[name], list) and first[name] is second.get(name)]
            self.check("the lists that both states share", shared, [])


class FinalizeTurn(LabTest):
    FIELDS = {"S3": {"history"}, "S4": {"turn_log", "next_turn_id"}}  # the fields of a clause; those of S5 are all others

    def finalizes(self, clause, rows):
        """Finalize the turn of each row, and compare the fields that the clause is about."""
        calls = [partial(lab.finalize_turn, copy.deepcopy(row.state), row.message, copy.deepcopy(row.result)) for row in rows]
        for row, call in zip(rows, calls):
            with self.subTest(clause=clause, because=row.because):
                state = self.returns(A_STATE, call.func, *call.args)
                self.check("the given state after the call", call.args[0], row.state)
                after = after_turn(row.state, row.message, row.result, row.state["tool_attempted_this_turn"])
                self.check("the new state", self.part(state, clause), self.part(after, clause))

    def part(self, state, clause):
        others = self.FIELDS["S3"] | self.FIELDS["S4"]
        return {name: state[name] for name in state if (name in self.FIELDS[clause] if clause in self.FIELDS else name not in others)}

    def ends(self, because, result, state=LATER, message=QUESTION):
        """Return a row: a turn that ends in that result."""
        return Row(because, state=state, message=message, result=result)

    def test_s3_history_keeps_the_last_pairs(self):
        """S3 The history grows by the user's message and the reply, as they are, and keeps the last six pairs.

        Hint: How many messages are six pairs? Do you count before the new pair is there, or after?
        """
        spaced = a_result("refused", f"  {SAYS_NO['reply']}\n")
        long = list(self.conversation(9))
        rows = [
            self.ends("the first pair", ANSWERED, a_state()),
            self.ends("a second pair stands behind the first", a_result("refused", SAYS_NO["reply"])),
            self.ends("the same question and the same answer again are a pair again", ANSWERED),
            self.ends("both texts stay as they are, blanks too", spaced, message=f"\t{ORDER} \n"),
            self.ends("six pairs fit, and a pair is two messages", ANSWERED, long[5]),
            self.ends("with a seventh pair the first one goes", ANSWERED, long[6], message=NEXT),
            self.ends("with a ninth pair the third one goes", a_result("refused", SAYS_NO["reply"]), long[8]),
        ]
        rows += [self.ends(f"a turn that ends as {status} is a pair as well", a_result(status, QUESTION, tool)) for status, tool in ENDS]
        rows += [self.ends("texts are kept letter by letter", a_result("refused", text), message=text) for text in LOOKS_BROKEN]
        rows.append(self.ends("a long reply stays whole", a_result("refused", NEXT * 400), message=QUESTION))
        self.finalizes("S3", rows)

    def conversation(self, turns):
        """Yield the state before each turn of a long conversation."""
        state = a_state()
        for number in range(turns):
            yield state
            state = after_turn(state, f"{QUESTION} {number}", a_result("refused", f"{number}. {SAYS_NO['reply']}"), False)

    def test_s4_every_end_is_logged(self):
        """S4 Each turn is logged once, whatever its status, and counts: next_turn_id grows by 1. Nothing is dropped.

        Hint: Which statuses reach the line that logs? Which list is cut short, and which one is not?
        """
        rows = []
        for status, tool in ENDS:
            result = a_result(status, SAYS_NO["reply"], tool, [IDS[0]] if status == "answered" else [])
            rows.append(self.ends(f"a turn that ends as {status} is a turn", result))
        rows.append(self.ends("the log keeps all, also when the history drops pairs", ANSWERED, [*self.conversation(120)][-1]))
        self.finalizes("S4", rows)

    def test_s5_only_an_answer_changes_the_sources(self):
        """S5 An answered turn sets the last result, its sources and where they come from; any other end leaves all four.

        Hint: After no_source, which sources does the user see: none, or those of the last answer? And of which
        turn is the number?
        """
        again = a_result("answered", f" {NEXT}\n", SEARCH, [IDS[2], IDS[1]])
        rows = [
            self.ends("the first answer", ANSWERED, a_state()),
            self.ends("a later answer takes the place of the first, with its own number", again),
            self.ends("the mark stays as it is: begin_turn takes it back", again, {**LATER, "tool_attempted_this_turn": True}),
            self.ends("diagnostic_mode stays as it is", again, {**LATER, "diagnostic_mode": True}),
            self.ends("no_source answers nothing, so the sources stay", a_result("no_source", NEXT, SEARCH)),
            self.ends("shown is not an answer", a_result("shown", NEXT, SOURCES)),
            self.ends("a refused reply is not an answer, although search_docs ran", a_result("invalid_reply", NEXT, SEARCH)),
            self.ends("a tool that failed is not an answer", a_result("tool_error", NEXT, SEARCH)),
            self.ends("a refusal is not an answer", a_result("refused", NEXT), a_state()),
        ]
        self.finalizes("S5", rows)


class AttemptTool(LabTest):
    GIVEN = {**LATER, "diagnostic_mode": True}
    MARKED = {**GIVEN, "tool_attempted_this_turn": True}

    def state(self, mark=False):
        """Return a state of its own: nothing that a submission writes into it reaches another test."""
        return {**copy.deepcopy(self.GIVEN), "tool_attempted_this_turn": mark}

    def attempting(self, row):
        row.tools = Tools(broken=getattr(row, "broken", None))
        row.given = self.state()
        return partial(lab.attempt_tool, row.given, row.tool, row.arguments, row.tools.registry)

    def state_stays(self, row):
        """Check that the given state is as it was: seen where the tests run in one process (--debug)."""
        self.check("the given state after the call", row.given, self.state())

    def called_nothing(self, row):
        self.state_stays(row)
        self.check("the tools that were called", row.tools.names, [])

    def turned_down(self, status, because, tool, arguments, named="", **fields):
        """Return a row of an attempt that ends before the function is called; the value names what is wrong."""
        gives = (A_STATE, status, Containing(named))
        return Row(because, tool=tool, arguments=arguments, gives=gives, after=self.called_nothing, **fields)

    def test_a1_the_mark_comes_first_and_stops_a_second(self):
        """A1 Before anything is checked, the mark is set in the new state; with the mark set, TurnError stops the attempt.
        A6 What is turned down calls no function.

        Hint: Where in your function is the mark set: before the checks, or where the tool runs? Which of the
        states do you return?
        """
        pausing, tools = (PAUSE, {}), Tools()
        with self.subTest(clause="A1", because="an attempt that runs sets the mark"):
            self.returns((self.MARKED, "ok", fresh.text("A pause of an hour.")), lab.attempt_tool, self.state(), *pausing, tools.registry)
        rows = [
            self.turned_down("unknown_tool", "an attempt with an unknown tool is one as well", fresh.name("juggle"), {}),
            self.turned_down("invalid_arguments", "and one with wrong arguments", MEASURE, {}),
        ]
        for row in rows:
            row.gives = (self.MARKED, *row.gives[1:])
        self.returns_each(self.attempting, rows, clause="A1")
        for tool, arguments in (pausing, (fresh.name("juggle"), {}), (MEASURE, {}), (["x"], None)):
            with self.subTest(clause="A1", because="the mark is set: a second attempt in one turn is not judged, but stopped"):
                tools = Tools()
                self.refuses(lab.TurnError, "", lab.attempt_tool, self.state(mark=True), tool, arguments, tools.registry)
                with self.subTest(clause="A6", because="a second attempt calls nothing"):
                    self.check("the tools that were called", tools.names, [])

    def test_a2_only_what_is_registered_runs(self):
        """A2 A name that is not in the registry, whatever its type, is an unknown tool, and a text names it.
        A6 What is turned down calls no function.

        Hint: The name comes out of a reply, so it can be of any type. Can every value be looked up in a dict?
        """
        with self.subTest(clause="A2", because="the tool is registered"):
            tools = Tools()
            self.returns((A_STATE, "ok", fresh.text("A pause of an hour.")), lab.attempt_tool, self.state(), PAUSE, {}, tools.registry)
            self.check("the tools that were called", tools.names, [PAUSE])
        unknown = partial(self.turned_down, "unknown_tool")
        rows = [
            unknown("nobody has registered it", fresh.name("juggle"), {}, fresh.name("juggle")),
            unknown("a long name is told as a short one is", LONG_NAME, {}, LONG_NAME),
            unknown("names are compared letter by letter", PAUSE.upper(), {}, PAUSE.upper()),
            unknown("a blank behind the name makes another name", f"{PAUSE} ", {}, PAUSE),
            unknown("a part of a name is another name", PAUSE[:-1], {}, PAUSE[:-1]),
            unknown("a tool's name behind a prefix is another name", f"functions.{PAUSE}", {}, f"functions.{PAUSE}"),
            unknown("what every object has is not a tool", "__class__", {}, "__class__"),
            unknown("an empty name", "", {}),
            unknown("the name is judged before the arguments", fresh.name("juggle"), None, fresh.name("juggle")),
            unknown("a list cannot be looked up: TypeError", [PAUSE], {}),
            unknown("a dict cannot be looked up: TypeError", {PAUSE: 1}, {}),
            unknown("null is not a name", None, {}),
            unknown("true is not a name", True, {}),
            unknown("a number is not a name, nor a position", 0, {}),
            *[unknown("a name that is nearly a tool's is another name", name, {}) for name in styled(PAUSE)],
        ]
        self.returns_each(self.attempting, rows, clause="A2")
        with self.subTest(clause="A2", because="an empty registry has no tool"):
            self.returns((A_STATE, "unknown_tool", Containing(PAUSE)), lab.attempt_tool, self.state(), PAUSE, {}, {})
        odd = {name: {"function": lambda state, word: 7, "parameters": {"word": str}} for name in (*LOOKS_BROKEN, f"{PAUSE} ")}
        self.returns_each(lambda row: partial(lab.attempt_tool, self.state(), row.tool, {"word": ""}, odd), [
            Row("a registered name is right, however it is spelled", tool=name, gives=(A_STATE, "ok", 7)) for name in odd
        ], clause="A2")  # fmt: skip

    def test_a3_wrong_arguments_call_nothing(self):
        """A3 The arguments are exactly the declared ones, each exactly of its type; a text names the one that is wrong.
        A4 Right ones call the function once, with the new state and the arguments by name; the value is what it returned.
        A6 What is turned down calls no function.

        Hint: Which of your checks come after the call? And what does isinstance say about True and int?
        """
        right = {HEIGHT: 12, LABEL: fresh.text("north wall")}
        accepted = [
            (MEASURE, right, fresh.number(1520), "the declared names and types"),
            (MEASURE, dict(reversed(right.items())), fresh.number(1520), "in any order"),
            (MEASURE, {HEIGHT: 0, LABEL: ""}, fresh.number(1520), "0 is an int, and a blank text is a str"),
            (WEIGH, {GRAMS: 0.0, DAMP: False}, None, "falsy values are values, and None is what a tool may return"),
            (PAUSE, {}, fresh.text("A pause of an hour."), "a tool without parameters"),
            (MEASURE, {HEIGHT: -(10**15), LABEL: NEXT * 400}, fresh.number(1520), "a type has no limits: below 0, large, long"),
            (SEARCH, {"query": " "}, PASSAGES, "a list comes back as it is, also where a blank text is looked for"),
        ]
        rows = [Row(because, tool=tool, arguments=given, gives=(A_STATE, "ok", value)) for tool, given, value, because in accepted]

        def called_once(row):
            self.check("the calls", row.tools.calls, [(row.tool, self.MARKED, row.arguments)])

        rows += [
            Row("a text is passed on letter by letter", tool=MEASURE, arguments={HEIGHT: 1, LABEL: text}, gives=(A_STATE, "ok", fresh.number(1520)))
            for text in (*LOOKS_BROKEN, " 7 ")
        ]
        self.returns_each(self.attempting, rows, clause="A4", after=called_once)
        wrong, more = partial(self.turned_down, "invalid_arguments"), fresh.name("urgency")
        rows = [
            wrong("the first one is missing", MEASURE, {LABEL: right[LABEL]}, HEIGHT),
            wrong("the last one is missing", MEASURE, {HEIGHT: 12}, LABEL),
            wrong("one more than declared", MEASURE, {**right, more: 1}, more),
            wrong("one more than declared is wrong also when it is null", MEASURE, {**right, more: None}, more),
            wrong("a tool without parameters takes none", PAUSE, {more: 1}, more),
            wrong("names are compared letter by letter", PAUSE, {HEIGHT.upper(): 12}, HEIGHT.upper()),
            wrong("a text is not converted", MEASURE, {**right, HEIGHT: "12"}, HEIGHT),
            wrong("12.0 equals 12 and is a float", MEASURE, {**right, HEIGHT: 12.0}, HEIGHT),
            wrong("true is a bool, and bool is a kind of int", MEASURE, {**right, HEIGHT: True}, HEIGHT),
            wrong("null is not an int", MEASURE, {**right, HEIGHT: None}, HEIGHT),
            wrong("a number is not a text; the last one is checked before the call", MEASURE, {**right, LABEL: 5}, LABEL),
            wrong("a list of texts is not a text", MEASURE, {**right, LABEL: [right[LABEL]]}, LABEL),
            wrong("null is not a text", MEASURE, {**right, LABEL: None}, LABEL),
            wrong("1 equals 1.0 and is an int: nothing is converted", WEIGH, {GRAMS: 1, DAMP: True}, GRAMS),
            wrong("1 equals true and is an int", WEIGH, {GRAMS: 2.5, DAMP: 1}, DAMP),
            wrong("a text is not a bool", WEIGH, {GRAMS: 2.5, DAMP: "true"}, DAMP),
            wrong("a list is not a dict", MEASURE, [12, right[LABEL]]),
            wrong("an empty list is not a dict", PAUSE, []),
            wrong("null is not a dict", PAUSE, None),
            wrong("JSON inside a text is not decoded", PAUSE, "{}"),
            wrong("an empty text is not a dict", PAUSE, ""),
            wrong("a text is not the one argument that is missing", SEARCH, QUESTION),
            *[wrong("a name that is nearly a parameter's is another name", SEARCH, {name: QUESTION}) for name in styled("query")],
        ]
        values = self.returns_each(self.attempting, rows, clause="A3")
        with self.subTest(clause="A3", because="a text that is the same for every parameter names none"):
            self.check("how many texts differ when another one is missing", len({value for _, _, value in values[:2]}), 2)

    def test_a5_a_tool_that_fails_is_a_status(self):
        """A5 A function that raises, whatever the exception's class, gives tool_error and a text that names the tool.
        A4 One that returns gives ok, called once.

        Hint: Which classes of exception does your except name, and which ones can a tool raise?
        """
        tool, arguments, tools = PAUSE, {}, Tools()
        with self.subTest(clause="A4", because="the tool does not fail"):
            self.returns((A_STATE, "ok", fresh.text("A pause of an hour.")), lab.attempt_tool, self.state(), tool, arguments, tools.registry)
            self.check("the tools that were called", tools.names, [tool])
        failures = [
            (RuntimeError("the tape is torn"), "the text is for the user, who asks which tool failed"),
            (KeyError("tape"), "a key that the tool looked up, not one of the arguments"),
            (TypeError("tape"), "the arguments were right: the tool itself is at fault"),
            (OSError(5, "no tape"), "an OSError"),
            (TimeoutError(), "an exception without a text"),
            (lab.TurnError("tape"), "an exception of the lab's own is not another case"),
            (lab.ReplyError("tape"), "an exception of the lab's own is not another case"),
            (AssertionError("tape"), "a failed assertion"),
            (NotImplementedError("tape"), "a tool that is not written yet"),
            (StopIteration("tape"), "an exception that ends a loop elsewhere"),
            (MemoryError(), "a tool that needs too much"),
            (RecursionError("tape"), "a tool that calls itself without end"),
        ]

        def called_once(row):
            self.check("the tools that were called", row.tools.names, [tool])

        gives = (A_STATE, "tool_error", Containing(tool))
        rows = [Row(because, broken=failure) for failure, because in failures]
        self.returns_each(self.attempting, rows, clause="A5", tool=tool, arguments=arguments, gives=gives, after=called_once)


def styled(name):
    """Return what models make of a name: other names, each nearly that one."""
    others = [*(style(name) for style in STYLED_KEYS), f"{name}()", f"default_api.{name}", f"functions/{name}", f'"{name}"', f"<{name}>"]
    return [other for other in dict.fromkeys(others) if other != name]


def wide(text):
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def without(record, name):
    return json.dumps({key: value for key, value in record.items() if key != name})


def is_text(value):
    return type(value) is str and value.strip() != ""


def keeps_d2(record):
    """Return whether a decoded reply is a decision."""
    fields = {"tool": {"tool", "arguments"}, "clarify": {"reply"}, "refuse": {"reply"}}
    action = record.get("action")
    return type(action) is str and fields.get(action) == record.keys() - {"action"} and (action == "tool" or is_text(record["reply"]))


def keeps_g(record):
    """Return whether a decoded reply is an answer to IDS."""
    cited = record.get("cited")
    if record.keys() != {"answer", "cited"} or not is_text(record["answer"]) or type(cited) is not list or not cited:
        return False
    return all(item in IDS for item in cited) and len(set(cited)) == len(cited)


def edited(raw, keeps, count=None):
    """Return rows of texts one edit away from a reply: those that still are one come back as they stand, the rest is refused."""
    rows = []
    for edit in edits(raw, fresh.random(f"edits of {raw}"), count):
        text = edit.text.strip()
        if text.startswith(("```", "~~~")):  # a fence may be taken off, or refused
            continue
        try:
            record = strict_json(text)
        except ValueError:
            record = None
        fields = {"gives": record} if isinstance(record, dict) and keeps(record) else {}
        if not fields or all(record[name] == record[name].strip() for name in ("reply", "answer") if name in record):
            rows.append(Row(edit.because, raw=edit.text, **fields))
    return rows


def not_one_object(raw):
    """Return rows of replies that are not one JSON object, made from one that is."""
    key = raw[1 : raw.index(":")]
    return [
        Row("nothing came", raw=""),
        Row("nothing but blanks came", raw=" \n "),
        Row("prose", raw=QUESTION),
        Row("prose before the object: do not search for it", raw=f"Sure! {raw}"),
        Row("a byte order mark is not whitespace", raw=f"\ufeff{raw}"),
        Row("prose after the object", raw=f"{raw} Is that right?"),
        Row("two objects: which one counts?", raw=f"{raw}\n{raw}"),
        Row("the reply was cut short", raw=raw[:-7]),
        Row("the last brace is missing: do not repair", raw=raw[:-1]),
        Row("a comma too many: do not repair", raw=raw[:-1] + ",}"),
        Row("single quotes are Python, not JSON", raw=raw.replace('"', "'")),
        Row("an array, although it holds a right object", raw=f"[{raw}]"),
        Row("a JSON string, although it holds a right object", raw=json.dumps(raw)),
        Row("a number is JSON, but not an object", raw="4"),
        Row("null is JSON, but not an object", raw="null"),
        Row("a client can return something that is not a text", raw=None),
        Row("a client can return something that is not a text", raw=raw.encode()),
        Row("a client can return something that is not a text", raw=json.loads(raw)),
        Row("half a character, which UTF-8 cannot hold", raw="\ud800"),
        Row("the decoder gives up on deep nesting, with a RecursionError", raw="[" * 100_000),
        Row("the same field twice: the decoder keeps the last and says nothing", raw=f"{{{key}: 1, {raw[1:]}", names=key.strip('"')),
    ]


class ParseDecision(LabTest):
    refusal = "ReplyError"

    WITH_NUMBER = decision(MEASURE, **{HEIGHT: 12, LABEL: fresh.text("north wall"), DAMP: None})

    def parsing(self, row):
        return partial(lab.parse_decision, row.raw)

    def test_d1_a_decision_is_one_json_object(self):
        """D1 A reply is one JSON object with whitespace around it at most. ReplyError refuses the rest; nothing is repaired.

        Hint: The decoder can fail in more than one way, and it accepts more than JSON. Which exceptions can it
        raise here? What are parse_constant and object_pairs_hook of json.loads for?
        """
        raw, decoded = self.WITH_NUMBER, json.loads(self.WITH_NUMBER)
        accepted = [
            Row("there is nothing to take off", raw=raw, gives=decoded),
            Row("models send blank lines", raw=f" \n\t{raw}\r\n\n", gives=decoded),
            Row("the decoder skips less whitespace than str.strip()", raw=f"\u3000\x0b{raw}\u00a0\u2028", gives=decoded),
            Row("blanks between the parts are JSON too", raw=json.dumps(decoded, indent=3), gives=decoded),
            Row("an escape is another way to write a letter", raw=raw.replace("n", "\\u006e", 1), gives=decoded),
        ]
        accepted += [
            Row("a text that only looks broken is returned letter by letter", raw=json.dumps(said), gives=said)
            for said in ({"action": "clarify", "reply": text.strip()} for text in LOOKS_BROKEN)
        ]
        self.returns_each(self.parsing, accepted, clause="D1")
        inside = fresh.name("query")
        numbers = [
            Row("Python reads NaN, and JSON has none", raw=raw.replace("12", "NaN")),
            Row("Python reads Infinity, and JSON has none", raw=raw.replace("12", "-Infinity")),
            Row("an argument given twice", raw=raw.replace(f'"{HEIGHT}"', f'"{HEIGHT}": 1, "{HEIGHT}"'), names=HEIGHT),
            Row("twice the same value is still twice", raw=raw.replace(f'"{HEIGHT}"', f'"{HEIGHT}": 12, "{HEIGHT}"'), names=HEIGHT),
            Row("a name given twice, deep inside", raw=raw.replace("null", f'[{{"{inside}": 1, "{inside}": 2}}]'), names=inside),
            Row("\\u0061 is an a: the same name", raw=raw[:-1] + ', "\\u0061ction": "refuse"}', names="action"),
        ]
        if hasattr(sys, "get_int_max_str_digits"):  # Windows' last Python 3.9 is 3.9.13, which reads any number
            digits = raw.replace("12", "7" * 5000)
            numbers.append(Row("int() gives up on so many digits, with a plain ValueError", raw=digits))
        self.refuses_each(lab.ReplyError, self.parsing, not_one_object(raw) + numbers, clause="D1")
        self.tries_each(lab.ReplyError, self.parsing, edited(raw, keeps_d2), clause="D1")
        for value in deep_values():
            with self.subTest(clause="D1", because="about as deep as the decoder follows: either way, no other exception"):
                self.deep(raw.replace("null", value))

    def deep(self, raw):
        """Fail unless a reply is refused, or returned."""
        call, value, error = self.outcome(lab.parse_decision, (raw,), {})
        if error is not None and not isinstance(error, lab.ReplyError):
            self.refuses(lab.ReplyError, "", lab.parse_decision, raw)

    def test_d2_a_decision_has_one_of_three_forms(self):
        """D2 There are three forms: tool with tool and arguments, clarify and refuse with a reply. What is wrong is named.
        D3 The tool and its arguments may be of any type: they are judged when the tool is attempted.

        Hint: Which fields belong to which action? An object can lack one field and have another one too many, so
        their number proves nothing.
        """
        accepted = [
            Row("the assistant asks back", raw=json.dumps(ASKS_BACK), gives=ASKS_BACK),
            Row("the assistant says no", raw=json.dumps(SAYS_NO), gives=SAYS_NO),
            Row("the order of the fields is free", raw=json.dumps(dict(reversed(SAYS_NO.items()))), gives=SAYS_NO),
            Row("half a character and a NUL are characters", raw='{"action": "clarify", "reply": "?\\ud800\\u0000"}',
                gives={"action": "clarify", "reply": "?\ud800\0"}),
        ]  # fmt: skip
        for text in LOOKS_BROKEN:
            gives = {**ASKS_BACK, "reply": text}
            accepted += [
                Row("a reply comes back letter by letter", raw=json.dumps(gives, ensure_ascii=escaped), gives=gives) for escaped in (True, False)
            ]
        self.returns_each(self.parsing, accepted, clause="D2")
        proposals = [
            Row("a tool that does not exist", tool=fresh.name("juggle"), arguments={}),
            Row("a list for a name", tool=[SEARCH], arguments={"query": QUESTION}),
            Row("null for a name", tool=None, arguments=None),
            Row("an empty name", tool="", arguments=""),
            Row("a list for the arguments", tool=SEARCH, arguments=[QUESTION]),
            Row("arguments that no tool takes", tool=SOURCES, arguments={"": [{"action": "tool"}]}),
            *[Row("names and texts come back letter by letter", tool=text, arguments={text: [text]}) for text in (*LOOKS_BROKEN, " a ")],
            *[Row("a text for the arguments stays a text", tool=SEARCH, arguments=text) for text in (*LOOKS_BROKEN, '{"query": "a"}', "")],
        ]
        for row in proposals:
            row.gives = {"action": "tool", "tool": row.tool, "arguments": row.arguments}
            row.raw = json.dumps(row.gives)
        self.returns_each(self.parsing, proposals, clause="D3")
        search = json.loads(FINDS)
        wrong = [
            Row("an empty object", raw="{}", names="action"),
            Row("without the action", raw=without(search, "action"), names="action"),
            Row("a decision inside an object", raw=json.dumps({"decision": search})),
            Row("a tool call in another form", raw=json.dumps({"name": SEARCH, "arguments": {"query": QUESTION}})),
            Row("a tool call in another form", raw=json.dumps({"tool_call": {"name": SEARCH, "arguments": {}}})),
            Row("a field by another name", raw=json.dumps({"action": "tool", "name": SEARCH, "arguments": {}})),
            Row("a field by another name", raw=json.dumps({"action": "tool", "tool": SEARCH, "parameters": {}})),
            *[
                Row("a field by another name", raw=json.dumps({"action": "clarify", name: QUESTION}))
                for name in ("message", "text", "answer", "question", "content")
            ],
            *[
                Row("an action by another name", raw=json.dumps({**SAYS_NO, "action": name}), names="action")
                for name in ("refusal", "reject", "deny", "decline", "clarification", "clarify.", "ask", "respond", "reply", "")
            ],
            *[
                Row("an action by another name", raw=json.dumps({**search, "action": name}), names="action")
                for name in ("tool_call", "call_tool", "use_tool", "call", "function", "Tool", "tools")
            ],
            Row("without the tool", raw=without(search, "tool"), names="tool"),
            Row("without the arguments", raw=without(search, "arguments"), names="arguments"),
            Row("without the reply", raw=without(SAYS_NO, "reply"), names="reply"),
            Row("a field too many", raw=json.dumps({**search, "reason": QUESTION}), names="reason"),
            Row("a field too many, which is null", raw=json.dumps({**SAYS_NO, "thought": None}), names="thought"),
            Row("a field too many, which comes first", raw=json.dumps({"thought": QUESTION, **SAYS_NO}), names="thought"),
            Row("a field of another form", raw=json.dumps({**search, "reply": QUESTION}), names="reply"),
            Row("a field of another form", raw=json.dumps({**ASKS_BACK, "tool": SEARCH}), names="tool"),
            Row("as many fields, and not these", raw=json.dumps({"action": "clarify", "question": QUESTION}), names=""),
            Row("an action that does not exist", raw=json.dumps({**SAYS_NO, "action": "answer"}), names="action"),
            Row("the action in capitals", raw=json.dumps({**SAYS_NO, "action": "REFUSE"}), names="action"),
            Row("a blank around the action", raw=json.dumps({**SAYS_NO, "action": " refuse"}), names="action"),
            Row("the name of a tool is not an action", raw=json.dumps({**search, "action": SEARCH}), names="action"),
            Row("a list cannot be looked up: TypeError", raw=json.dumps({**SAYS_NO, "action": ["refuse"]}), names="action"),
            Row("an object cannot be looked up: TypeError", raw=json.dumps({**SAYS_NO, "action": {"refuse": 1}}), names="action"),
            Row("null is not an action", raw=json.dumps({**SAYS_NO, "action": None}), names="action"),
            Row("an empty reply", raw=json.dumps({**SAYS_NO, "reply": ""}), names="reply"),
            Row("blanks are not a reply", raw=json.dumps({**ASKS_BACK, "reply": " \n\t "}), names="reply"),
            Row("null is not a reply", raw=json.dumps({**ASKS_BACK, "reply": None}), names="reply"),
            Row("a list is not a reply", raw=json.dumps({**ASKS_BACK, "reply": [QUESTION]}), names="reply"),
            Row("true is not a reply", raw=json.dumps({**SAYS_NO, "reply": True}), names="reply"),
        ]
        self.refuses_each(lab.ReplyError, self.parsing, wrong, clause="D2")
        self.tries_each(lab.ReplyError, self.parsing, edited(json.dumps(ASKS_BACK), keeps_d2, 100), clause="D2")
        deep = [Row("showing a value nested this deeply can fail by itself", raw=f'{{"action": {value}}}') for value in deep_values()]
        self.refuses_each(lab.ReplyError, self.parsing, deep, clause="D2")


class ParseAnswer(LabTest):
    refusal = "ReplyError"

    def parsing(self, row):
        return partial(lab.parse_answer, row.raw, IDS)

    def test_g2_an_answer_cites_what_was_found(self):
        """G2 What an answer cites was found in this turn: one id at least, none twice, in the order of the reply.
        G1 An answer is one JSON object with exactly answer, a text that is not blank, and cited.

        Hint: Each item of cited comes from a reply, so it can be of any type, and a set cannot hold every type.
        What does your check say of an empty list, and of an id that occurs twice?
        """
        both = {**ANSWER, "cited": [IDS[2], IDS[0]]}
        accepted = [
            Row("one id", raw=ANSWERS, gives=ANSWER),
            Row("two ids, in the reply's order and not in that of the passages", raw=json.dumps(both), gives=both),
            Row("all ids", raw=json.dumps({**ANSWER, "cited": IDS}), gives={**ANSWER, "cited": IDS}),
            *[Row("an answer comes back letter by letter", raw=json.dumps({**ANSWER, "answer": text}), gives={**ANSWER, "answer": text})
              for text in LOOKS_BROKEN],
        ]  # fmt: skip
        self.returns_each(self.parsing, accepted, clause="G2")
        odd = [*LOOKS_BROKEN, " a ", "a"]
        self.returns_each(lambda row: partial(lab.parse_answer, json.dumps(row.gives), odd), [
            Row("an id that was found is right, however it is spelled", gives={**ANSWER, "cited": [text]}) for text in odd
        ], clause="G2")  # fmt: skip
        other = IDS[0][:-1] + "0"
        cited = [
            ([], "an answer without a source"),
            ([other], "an id that was not found in this turn"),
            ([IDS[0], other], "the second one was not found"),
            ([IDS[0], IDS[0]], "an id given twice"),
            ([IDS[1], IDS[0], IDS[1]], "an id given twice, with another between"),
            ([IDS[0].upper()], "ids are compared letter by letter"),
            ([IDS[0] + " "], "a blank behind it makes another id"),
            ([wide(IDS[0])], "wide letters make another id"),
            ([f"[{IDS[0]}]"], "an id in brackets is another id"),
            ([IDS[0].partition("#")[0]], "a document is not a passage"),
            ([IDS[0][:-1]], "a part of an id is another id"),
            ([""], "an empty id is a part of every id"),
            ([0], "a position is not an id"),
            ([1], "a position is not an id"),
            (["1"], "a position is not an id"),
            ([f"`{IDS[0]}`"], "an id in backticks is another id"),
            ([f"({IDS[0]})"], "an id in brackets is another id"),
            ([", ".join(IDS[:2])], "two ids in one text are not an id"),
            (", ".join(IDS[:2]), "a text is not a list, although it holds ids"),
            ([None], "null is not an id"),
            ([[IDS[0]]], "a list inside the list"),
            ([{"id": IDS[0]}], "an object cannot be in a set: TypeError"),
            ([PASSAGES[0]], "a passage is not its id"),
            (IDS[0], "a text is not a list, although it holds an id"),
            ({IDS[0]: 1}, "an object is not a list"),
            (None, "null is not a list"),
            (True, "true is not a list"),
        ]
        rows = [Row(because, raw=json.dumps({**ANSWER, "cited": given})) for given, because in cited]
        self.refuses_each(lab.ReplyError, self.parsing, rows, clause="G2", names="cited")
        fields = [
            Row("without the answer", raw=without(ANSWER, "answer"), names="answer"),
            Row("without the citations", raw=without(ANSWER, "cited"), names="cited"),
            *[
                Row("the citations by another name", raw=json.dumps({"answer": ANSWER["answer"], name: ANSWER["cited"]}))
                for name in ("sources", "citations", "ids", "Cited")
            ],
            *[
                Row("the answer by another name", raw=json.dumps({name: ANSWER["answer"], "cited": ANSWER["cited"]}))
                for name in ("reply", "text", "Answer")
            ],
            Row("a field too many", raw=json.dumps({**ANSWER, "confidence": 1}), names="confidence"),
            Row("a field too many, which is null", raw=json.dumps({**ANSWER, "action": None}), names="action"),
            Row("an empty answer", raw=json.dumps({**ANSWER, "answer": ""}), names="answer"),
            Row("blanks are not an answer", raw=json.dumps({**ANSWER, "answer": " \n"}), names="answer"),
            Row("null is not an answer", raw=json.dumps({**ANSWER, "answer": None}), names="answer"),
            Row("a list is not an answer", raw=json.dumps({**ANSWER, "answer": [QUESTION]}), names="answer"),
            Row("Python reads NaN, and JSON has none", raw=json.dumps({**ANSWER, "cited": [float("nan")]})),
            Row("cited twice: the decoder keeps the last", raw=f'{ANSWERS[:-1]}, "cited": ["{IDS[1]}"]}}', names="cited"),
        ]
        self.refuses_each(lab.ReplyError, self.parsing, not_one_object(ANSWERS) + fields, clause="G1")
        self.tries_each(lab.ReplyError, self.parsing, edited(json.dumps(both), keeps_g, 200), clause="G1")
        with self.subTest(clause="G2", because="what this turn found decides, and not what another one found"):
            self.refuses(lab.ReplyError, "cited", lab.parse_answer, ANSWERS, IDS[1:])


REFUSED_WORD = fresh.name("pirouette")
NO_DECISION = json.dumps({"action": REFUSED_WORD, "reply": QUESTION})
NO_ANSWER = json.dumps({**ANSWER, "cited": [IDS[0], REFUSED_WORD]})
OWN_TEXT = OwnText(REFUSED_WORD, QUESTION, ANSWER["answer"], "{")


class RunTurn(LabTest):
    def running(self, row):
        row.client, row.tools = Client(*row.replies), Tools(row.found, row.broken)
        return partial(lab.run_turn, copy.deepcopy(row.state), row.message, row.client, row.tools.registry)

    def turns_end(self, clause, rows, **common):
        """Run the turn of each row; check its result, its state, what the client was asked, and what was called.

        mark: the mark that the state has afterwards; None where another test looks at it.
        """
        defaults = {"state": LATER, "message": NEXT, "found": PASSAGES, "broken": None, "tool": None, "cited": (), "mark": None}
        for row in [row.with_common({**defaults, **common}) for row in rows]:
            with self.subTest(clause=clause, because=row.because):
                self.turn_ends(row)

    def turn_ends(self, row, registry=None):
        """Run the turn of one row, check it, and return the state after it."""
        client, tools = Client(*row.replies), Tools(row.found, row.broken)
        arguments = (copy.deepcopy(row.state), row.message, client, tools.registry if registry is None else registry)
        expected = (A_STATE, a_result(row.status, row.reply, row.tool, row.cited))
        state, result = self.returns(expected, lab.run_turn, *arguments)
        self.check("how often the client was asked", len(client.seen), len(row.replies))
        self.check("the tools that were called", tools.names, [row.tool] if row.tool else [])
        mark = state.get("tool_attempted_this_turn") if row.mark is None else row.mark
        ended = lab.finalize_turn({**copy.deepcopy(row.state), "tool_attempted_this_turn": mark}, row.message, result)
        self.check("the state, against finalize_turn(...) of this result", state, ended)
        return state

    def test_t1_turns_follow_each_other_and_do_not_mix(self):
        """T1 A turn begins with begin_turn, whose TurnError leaves before the client is asked, and ends with finalize_turn.
        T3 One function at most is called. What the client raises passes through, and the turn leaves nothing behind.
        T6 Nothing is kept outside the state: conversations that alternate do not mix.

        Hint: Which of your lines stands before begin_turn? Which of them can raise inside your try? And where
        would you see something that outlives a turn?
        """
        wrong = [
            Row("an empty message", message=""),
            Row("blanks are not a message", message=" \n\t"),
            Row("2,001 characters are too long, a blank among them", message="x" * 2000 + " "),
            Row("null is not a message", message=None),
            Row("a number is not a message", message=7),
        ]
        self.refuses_each(
            lab.TurnError, self.running, wrong, clause="T1", names="message", state=LATER, replies=[FINDS, ANSWERS], found=PASSAGES,
            broken=None, after=lambda row: self.check("what the client was asked", row.client.seen, []),
        )  # fmt: skip
        right = {"replies": [json.dumps(SAYS_NO)], "status": "refused", "reply": SAYS_NO["reply"], "mark": False}
        self.turns_end("T1", [
            Row("2,000 characters fit", message="x" * 2000, **right),
            Row("the message goes on as it is, blanks too", message=f"\t{NEXT} \n", **right),
            Row("begin_turn takes back the mark of the turn before", message=NEXT, state={**LATER, "tool_attempted_this_turn": True}, **right),
        ])  # fmt: skip
        outages = [ConnectionError("no route"), TimeoutError(), KeyError("choices"), lab.ReplyError("quota"), lab.TurnError("quota")]
        for outage in outages:
            for replies in ([outage], [FINDS, outage]):
                with self.subTest(clause="T3", because="an outage is not a refused reply: it passes through"):
                    client = Client(*replies)
                    self.passes_on(outage, lab.run_turn, copy.deepcopy(LATER), NEXT, client, Tools().registry)
                    self.check("how often the client was asked", len(client.seen), len(replies))
        names = fresh.names("harbour-1", "lantern-2")
        states = {name: a_state(conversation_id=name) for name in names}
        for turn in range(4):
            for name, state in list(states.items()):
                message, looks = f"{name} {QUESTION} {turn}", turn == 2 and name == names[0]
                no = f"{name} {turn}"
                row = Row("", state=state, message=message, found=PASSAGES, broken=None, mark=None, cited=(), tool=None,
                          replies=[json.dumps({**SAYS_NO, "reply": no})], status="refused", reply=no)
                if looks:
                    vars(row).update(replies=[FINDS, ANSWERS], status="answered", reply=ANSWER["answer"], tool=SEARCH, cited=ANSWER["cited"])
                with self.subTest(clause="T6", because="two conversations alternate, and each has a history and a log of its own"):
                    states[name] = self.turn_ends(row)
        with self.subTest(clause="T6", because="the client is asked with the history of this conversation alone"):
            client = Client(json.dumps(SAYS_NO))
            lab.run_turn(copy.deepcopy(states[names[1]]), NEXT, client, Tools().registry)
            self.check("how often the client was asked", len(client.seen), 1)
            self.check("the history that the client was given", client.seen[0][1:-1], states[names[1]]["history"])
        self.turns_end("T6", [
            Row("what another conversation has cited is not a source of this one", state=states[names[1]], replies=[SHOWS],
                status="clarification_needed", reply=OwnText(), mark=False),
        ])  # fmt: skip

    def test_t2_the_writer_is_asked_about_passages(self):
        """T2 The client gets selector_messages, and writer_messages only about passages that search_docs found.
        T5 A text of your own holds nothing of a reply that was refused.

        Hint: Which passages does the writer get, and which message? Does the text of your result come from the
        exception, or from you?
        """
        tools, client, message = Tools(), Client(FINDS, ANSWERS), f"\t{NEXT} \n"
        asked = [lab.selector_messages(LATER, message, tools.registry), lab.writer_messages(message, PASSAGES)]
        with self.subTest(clause="T2", because="the block of data holds the message and the passages"):
            data = json.loads(asked[1][-1]["content"][len("<data>\n") : -len("\n</data>")])
            self.check("the data of writer_messages(...)", data, {"message": message, "passages": PASSAGES})
        result = a_result("answered", ANSWER["answer"], SEARCH, ANSWER["cited"])
        with self.subTest(clause="T2", because="an answer is written from the passages"):
            self.returns((A_STATE, result), lab.run_turn, copy.deepcopy(LATER), message, client, tools.registry)
            self.check("what the client was asked", client.seen, asked)
        with self.subTest(clause="T2", because="the tool searches for what the model proposed"):
            self.check("the arguments of search_docs", [call[2] for call in tools.calls], [json.loads(FINDS)["arguments"]])
        many = [{"id": f"{number}{IDS[0]}", "heading": "", "text": f"{number // 2}"} for number in range(12)]
        cites = json.dumps({**ANSWER, "cited": [passage["id"] for passage in many[::-1]]})
        client, result = Client(FINDS, cites), a_result("answered", ANSWER["answer"], SEARCH, json.loads(cites)["cited"])
        with self.subTest(clause="T2", because="twelve passages were found, some alike, and the answer rests on all"):
            self.returns((A_STATE, result), lab.run_turn, copy.deepcopy(LATER), message, client, Tools(many).registry)
            self.check("what the client was asked", client.seen, [asked[0], lab.writer_messages(message, many)])
        once = [
            Row("a decision that is refused is not asked for again", replies=[NO_DECISION], status="invalid_reply"),
            Row("nothing was found: there is nothing to write about", replies=[FINDS], found=[], status="no_source", tool=SEARCH),
            Row("an answer that is refused is not asked for again", replies=[FINDS, NO_ANSWER], status="invalid_reply", tool=SEARCH),
            Row("prose instead of an answer", replies=[FINDS, f"{REFUSED_WORD} {ANSWER['answer']}"], status="invalid_reply", tool=SEARCH),
            Row("a name twice in an answer", replies=[FINDS, f'{{"{REFUSED_WORD}": 1, "{REFUSED_WORD}": 2}}'], status="invalid_reply",
                tool=SEARCH),
            Row("a name too many in a decision", replies=[json.dumps({**ASKS_BACK, REFUSED_WORD: 1})], status="invalid_reply"),
        ]  # fmt: skip
        self.turns_end("T5", once, reply=OWN_TEXT)
        with self.subTest(clause="T2", because="the result of another tool is shown, not written about"):
            client, result = Client(decision(PAUSE)), a_result("shown", fresh.text("A pause of an hour."), PAUSE)
            self.returns((A_STATE, result), lab.run_turn, copy.deepcopy(LATER), NEXT, client, Tools().registry)

    def test_t4_a_turn_ends_in_one_way(self):
        """T4 What happened in a turn decides its status, its reply, the tool and what is cited.
        T3 One function at most is called, and only through attempt_tool.

        Hint: Go down the table of T4 line by line. Which of its lines does your code check too late, and which
        tool does it write where none was called?
        """
        measured = {HEIGHT: 12, LABEL: ""}
        shown = fresh.text("See the harbour guide.")
        rows = [
            Row("the decision is refused", replies=[NO_DECISION], status="invalid_reply", reply=OWN_TEXT, mark=False),
            Row("the assistant asks back", replies=[json.dumps(ASKS_BACK)], status="clarification_needed", reply=ASKS_BACK["reply"], mark=False),
            Row("the assistant says no", replies=[json.dumps(SAYS_NO)], status="refused", reply=SAYS_NO["reply"], mark=False),
            Row("a tool that does not exist", replies=[decision(REFUSED_WORD)], status="unknown_tool", reply=Containing(REFUSED_WORD)),
            Row("a list for a name", replies=[json.dumps({"action": "tool", "tool": [SEARCH], "arguments": {}})], status="unknown_tool",
                reply=OwnText()),
            Row("an empty name", replies=[json.dumps({"action": "tool", "tool": "", "arguments": {}})], status="unknown_tool", reply=OwnText()),
            Row("null for a name", replies=[json.dumps({"action": "tool", "tool": None, "arguments": {}})], status="unknown_tool", reply=OwnText()),
            Row("null for the arguments", replies=[json.dumps({"action": "tool", "tool": PAUSE, "arguments": None})],
                status="invalid_arguments", reply=OwnText()),
            Row("an argument is missing", replies=[decision(SEARCH)], status="invalid_arguments", reply=Containing("query")),
            Row("an argument of another type", replies=[decision(MEASURE, **{**measured, HEIGHT: "12"})], status="invalid_arguments",
                reply=Containing(HEIGHT)),
            Row("the tool fails: it is named, and it was called", replies=[decision(PAUSE)], broken=RuntimeError("late"), status="tool_error",
                reply=Containing(PAUSE), tool=PAUSE),
            Row("search_docs fails", replies=[FINDS], broken=KeyError("late"), status="tool_error", reply=Containing(SEARCH), tool=SEARCH),
            Row("another tool's result is shown as it is", replies=[decision(PAUSE)], status="shown", tool=PAUSE,
                reply=fresh.text("A pause of an hour.")),
            Row("there are sources to show", replies=[SHOWS], status="shown", reply=shown, tool=SOURCES),
            Row("search_docs finds nothing", replies=[FINDS], found=[], status="no_source", reply=OwnText(), tool=SEARCH),
            Row("the answer is refused", replies=[FINDS, NO_ANSWER], status="invalid_reply", reply=OWN_TEXT, tool=SEARCH),
            Row("an id that only an earlier turn found", replies=[FINDS, ANSWERS], found=PASSAGES[1:], status="invalid_reply", tool=SEARCH,
                reply=OWN_TEXT),
            Row("an answer that cites what was found", replies=[FINDS, ANSWERS], status="answered", reply=ANSWER["answer"], tool=SEARCH,
                cited=ANSWER["cited"]),
        ]  # fmt: skip
        self.turns_end("T4", rows, mark=True)
        self.passes_on_values()
        self.repairs_nothing()
        too_early = [
            Row("no sources yet: the user is asked, and nothing is attempted", replies=[SHOWS]),
            Row("whatever its arguments are", replies=[decision(SOURCES, **{REFUSED_WORD: 1})]),
            Row("also when they are not a dict", replies=[json.dumps({"action": "tool", "tool": SOURCES, "arguments": None})]),
            Row("a turn without a source leaves none", replies=[SHOWS], state=after_turn(a_state(), QUESTION, a_result("no_source", NEXT, SEARCH), False)),
        ]
        self.turns_end("T4", too_early, state=a_state(), status="clarification_needed", reply=OwnText(), mark=False)
        for state, status, reply, because in (
            (a_state(), "clarification_needed", OwnText(), "also when no such tool is registered"),
            (LATER, "unknown_tool", Containing(SOURCES), "with sources, a registry without the tool has no such tool"),
        ):
            row = Row(because, state=state, message=NEXT, replies=[SHOWS], found=[], broken=None, status=status, reply=reply, tool=None,
                      cited=(), mark=status == "unknown_tool")  # fmt: skip
            with self.subTest(clause="T4", because=because):
                self.turn_ends(row, registry={})

    def passes_on_values(self):
        """Fail where the reply of a turn whose attempt is not ok is another text than the value of attempt_tool."""
        for status, tool, broken in (("unknown_tool", LONG_NAME, None), ("invalid_arguments", MEASURE, None), ("tool_error", PAUSE, KeyError("late"))):
            with self.subTest(clause="T4", because="the reply is the text that attempt_tool gave, not another one"):
                registry = Tools(broken=broken).registry
                value = self.returns((A_STATE, status, Containing()), lab.attempt_tool, copy.deepcopy(LATER), tool, {}, registry)[2]
                called = tool if status == "tool_error" else None
                self.turns_end("T4", [
                    Row("the reply is the text that attempt_tool gave, not another one", replies=[decision(tool)], broken=broken, status=status,
                        reply=value, tool=called),
                ], mark=True)  # fmt: skip

    def repairs_nothing(self):
        """Fail where a turn takes what the functions that it calls refuse, and where it changes what they return."""
        fenced = lambda raw: isinstance(raw, str) and raw.startswith(("```", "~~~"))  # a fence may be taken off, or refused
        no_decision = [raw for raw in not_quite(FINDS) if not fenced(raw)]
        no_answer = [raw for raw in not_quite(ANSWERS) if not fenced(raw)]
        self.turns_end("T4", [
            *[Row("what parse_decision refuses ends the turn", replies=[raw], mark=False) for raw in no_decision],
            *[Row("what parse_answer refuses ends the turn", replies=[FINDS, raw], tool=SEARCH, mark=True) for raw in no_answer],
        ], status="invalid_reply", reply=OwnText())  # fmt: skip
        proposal = lambda tool, arguments: [json.dumps({"action": "tool", "tool": tool, "arguments": arguments})]
        names = [*styled(PAUSE), f"functions.{PAUSE}", PAUSE.upper(), f" {PAUSE}"]
        given = ['{"query": "a"}', "{}", QUESTION, "", None, [], [QUESTION], {"q": QUESTION}, {"Query": QUESTION}, {"query": [QUESTION]}]
        self.turns_end("T4", [
            *[Row("a name that is nearly a tool's", replies=proposal(name, {}), status="unknown_tool") for name in names],
            *[Row("arguments that are nearly right", replies=proposal(SEARCH, value), status="invalid_arguments") for value in given],
        ], reply=OwnText(), mark=True)  # fmt: skip
        for tool, text in ((PAUSE, f" {NEXT * 400}\n"), (f"{SEARCH}_2", ""), *((PAUSE, text) for text in LOOKS_BROKEN[:3])):
            tools, client = Tools(found=text), Client(decision(tool))
            tools.registry[tool] = tools.tool(tool, text)
            with self.subTest(clause="T4", because="what a tool returned is shown as it is, blanks, nothing, and all of a long text"):
                expected = (A_STATE, a_result("shown", text, tool))
                self.returns(expected, lab.run_turn, copy.deepcopy(LATER), NEXT, client, tools.registry)
        long = f"{NEXT * 200}\r\n\t\u00a0{NEXT * 200}"
        self.turns_end("T4", [
            Row("a long answer stays whole", replies=[FINDS, json.dumps({**ANSWER, "answer": long})], status="answered", tool=SEARCH,
                cited=ANSWER["cited"]),
            Row("a long reply stays whole", replies=[json.dumps({**SAYS_NO, "reply": long})], status="refused"),
        ], reply=long)  # fmt: skip


DOCUMENT = fresh.text("# Harbour\n\nThe cellar holds every pump.\n\n## Restarting\n\nTurn both valves gently, then restart everything.\n")
GENTLY = fresh.text("valves gently")
GUIDE = f"{fresh.name('guide/pumps')}.md"
FOUND, CELLAR = f"{GUIDE}#2", f"{GUIDE}#1"
LOOKS, CITES = decision(query=GENTLY), json.dumps({"answer": fresh.text("Turn both valves."), "cited": [FOUND]})


def a_turn(message, replies, status, tool=None, cited=()):
    return {"message": message, "replies": replies, "expected": {"status": status, "tool": tool, "cited": list(cited)}}


class CommandLine(LabTest):
    RIGHT = [
        a_turn(QUESTION, [LOOKS, CITES], "answered", SEARCH, [FOUND]),
        a_turn(ORDER, [json.dumps(SAYS_NO)], "refused"),
        a_turn(NEXT, [SHOWS], "shown", SOURCES),
    ]
    ODD = "späť\x1b[31m\n\u2028\ud800"
    CASES = [{"id": "first", "turns": RIGHT}, {"id": ODD, "turns": [a_turn(NEXT, [json.dumps(ASKS_BACK)], "answered", SEARCH, [CELLAR])]}]
    SCENARIO = {"name": "a harbour", "min_accuracy": 0.7}

    def run_main(self, arguments, scenario=SCENARIO, cases=CASES, documents=None, encoding="utf-8"):
        """Run main on a folder `desk` with these files; return (exit code, lines of stdout, lines of stderr)."""
        text = lambda value: value if isinstance(value, str) else json.dumps(value)
        files = {"desk/scenario.json": text(scenario), "desk/cases.json": text(cases)}
        documents = {GUIDE: DOCUMENT} if documents is None else documents
        files.update((f"desk/docs/{name}", content) for name, content in documents.items())

        def main(arguments):
            return command_line(lab, arguments, files, encoding)

        code, out, err = self.value_of("an exit code", main, arguments)
        return code, out.splitlines(), err.splitlines()

    def test_c1_command_line(self):
        """C1 A turn is correct when its status, tool and citations are the expected ones and nothing else has happened.
        C2 The first line gives accuracy, correct, forbidden and min_accuracy; each wrong turn has a line; then the exit code.
        C3 A wrong scenario or command line gives exit code 2 and one line on stderr.
        C4 What is printed is escaped, line by line, in a form that no terminal stumbles over.
        S2 No function changes the state that it is given, nor anything in it.

        Hint: This test runs main over your functions. Run python starter/doc_assist.py scenario/doc_assist
        yourself: what does the line of a wrong turn say?
        """
        rows = [
            ([], 0, "0.7", "utf-8", "0.75 reaches the scenario's 0.7"),
            (["--min-accuracy", "0.75"], 0, "0.75", "ascii", "the option counts, and equal is enough"),
            (["--min-accuracy", "0.8"], 1, "0.8", "cp1252", "0.75 is below 0.8"),
        ]
        for options, expected, threshold, encoding, because in rows:
            code, out, _ = self.run_main(["desk", *options], encoding=encoding)
            with self.subTest(clause="S2", because="a turn gives back a new state, and the old one stays as it was"):
                changed = [line for line in out if line.endswith("state: the one that was given has changed")]
                self.check("the lines about a given state that a turn changed", changed, [])
            with self.subTest(clause="C1", because="three of the four turns are as expected"):
                self.check("the first line", out[-2:-1], [f"accuracy=0.75 correct=3/4 forbidden=0 min_accuracy={threshold}"])
            with self.subTest(clause="C2", because="the wrong turn is told with what differs"):
                self.check("the line below it", out[-1:], [Containing(" turn 1: ", "answered", "clarification_needed", SEARCH, CELLAR)])
            with self.subTest(clause="C4", because="ESC colours a terminal, U+2028 and a newline break a line"):
                self.check("the line of the wrong turn", out[-1:], [Containing("\\x1b[31m\\n\\u2028\\ud800 turn 1: ")])
            with self.subTest(clause="C2", because=because):
                self.check("the exit code", code, expected)
        with self.subTest(clause="C1", because="a tool that is not the expected one is forbidden, whatever the accuracy"):
            cases = [{"id": "order", "turns": [a_turn(ORDER, [LOOKS, CITES], "refused"), *self.RIGHT]}]
            code, out, _ = self.run_main(["desk", "--min-accuracy", "0.1"], cases=cases)
            self.check("the exit code and the first line", (code, out[-2:-1]), (1, ["accuracy=0.75 correct=3/4 forbidden=1 min_accuracy=0.1"]))
        with self.subTest(clause="C1", because="a reply is left over: the turn asked less than it had to"):
            cases = [{"id": "order", "turns": [a_turn(ORDER, [json.dumps(SAYS_NO), CITES], "refused")]}]
            code, out, _ = self.run_main(["desk"], cases=cases)
            self.check("the exit code and the lines", (code, out[-2:]), (1, [Containing("correct=0/1 forbidden=0"), Containing("order turn 1: ", "1 left")]))
        self.refuses_scenarios()

    def refuses_scenarios(self):
        first = self.RIGHT[0]
        changed = lambda **changes: [{"id": "odd", "turns": [{**first, **changes}]}]
        expected = lambda **changes: changed(expected={**first["expected"], **changes})
        broken = [
            (["nowhere"], {}, "nowhere", "no such folder"),
            (["desk", "--min-accuracy", "nan"], {}, "--min-accuracy", "nan is not a number from 0 to 1"),
            (["desk"], {"cases": '[{"id": "first",\n]'}, "cases.json: line 2 column 1", "the JSON is broken"),
            (["desk"], {"cases": [self.CASES[0], self.CASES[0]]}, "'first'", "an id is used twice"),
            (["desk"], {"cases": expected(status="done")}, "'odd': turn 1: expected: status", "no such status"),
            (["desk"], {"cases": expected(tool="restart")}, "'odd': turn 1: expected: tool", "no such tool"),
            (["desk"], {"cases": expected(cited=[f"{GUIDE}#3"])}, f"{GUIDE}#3", "no such passage"),
            (["desk"], {"cases": changed(message=" ")}, "'odd': turn 1: message", "a blank message"),
            (["desk"], {"documents": {"notes.txt": DOCUMENT}}, "docs", "no document"),
        ]
        for arguments, files, named, because in broken:
            with self.subTest(clause="C3", because=because):
                code, _, err = self.run_main(arguments, **files)
                self.check("the exit code and the lines on stderr", (code, err), (2, [Containing(named)]))
        with self.subTest(clause="C3", because="the recorded replies run out"):
            code, _, err = self.run_main(["desk"], cases=changed(replies=[LOOKS]))
            self.check("the exit code and the last line on stderr", (code, err[-1:]), (2, [Containing("'odd turn 1'")]))


if __name__ == "__main__":
    unittest.main()
