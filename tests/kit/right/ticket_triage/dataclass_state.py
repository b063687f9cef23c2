"""Dataclasses and an Enum for the state; the answer is a dataclass made a dict at the end; every message is kept typed."""

import enum
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Dict, List, Optional


class Step(enum.Enum):
    ASK = "ask"
    ANSWERED = "answered"
    GIVE_UP = "give up"


@dataclass(frozen=True)
class Answer:
    category: Optional[str]
    priority: Optional[int]
    summary: str
    needs_human: bool

    @classmethod
    def checked(cls, record: Dict[str, Any], categories) -> "Answer":
        names = {each.name for each in fields(cls)}
        for name in names - set(record):
            raise TriageError(f"{name} is not there")
        for name in set(record) - names:
            raise TriageError(f"{name!r} is not wanted")
        answer = cls(**record)
        answer.check(frozenset(categories))
        return cls(answer.category, answer.priority, answer.summary.strip(), answer.needs_human)

    def check(self, categories):
        if type(self.summary) is not str:
            raise TriageError("summary: a str, please")
        if not self.summary.strip():
            raise TriageError("summary: is empty")
        if len(self.summary.strip()) > SUMMARY_LIMIT:
            raise TriageError(f"summary: {len(self.summary.strip()) - SUMMARY_LIMIT} characters too long")
        if self.needs_human is not True and self.needs_human is not False:
            raise TriageError("needs_human: a bool, please")
        if type(self.priority) is not int:
            raise TriageError("priority: an int, please")
        if self.priority < min(PRIORITIES) or self.priority > max(PRIORITIES):
            raise TriageError(f"priority: {self.priority} is out of range")
        if type(self.category) is not str:
            raise TriageError("category: a str, please")
        if self.category not in categories:
            raise TriageError(f"category: {self.category!r} does not exist")


@dataclass
class State:
    messages: List[dict]
    refused: int = 0
    results: list = field(default_factory=list)
    step: Step = Step.ASK

    def finish(self, answer: Answer, attempts: int) -> dict:
        return {**asdict(answer), "attempts": attempts, "tool_calls": len(self.results), "fallback": self.step is Step.GIVE_UP}


def _one_name(pairs):
    record = {}
    for name, value in pairs:
        if name in record:
            raise TriageError(f"{name!r} is given more than once")
        record[name] = value
    return record


def _constant(name):
    raise TriageError(f"{name}: no JSON")


def _record(raw):
    if not isinstance(raw, str):
        raise TriageError(f"{type(raw)}: no reply")
    text = raw.strip()
    for opening in ("```json", "```"):
        if text.startswith(opening + "\n") and text.endswith("```") and len(text) > len(opening) + 3:
            text = text[len(opening) + 1 : -3]
            break
    decoder = json.JSONDecoder(object_pairs_hook=_one_name, parse_constant=_constant)
    try:
        record = decoder.decode(text)
    except (RecursionError, ValueError) as error:
        raise TriageError(f"no JSON: {type(error).__name__}") from error
    if not isinstance(record, dict):
        raise TriageError(f"{type(record).__name__}: no object")
    return record


def parse_triage(raw: str, categories) -> dict:
    return asdict(Answer.checked(_record(raw), categories))


def run_tool_call(call, tools):
    if not isinstance(call, dict):
        raise ToolCallError(f"{type(call).__name__}: no call")
    for key in ("arguments", "tool"):
        if key not in call:
            raise ToolCallError(f"{key}: not there")
    for key in call:
        if key not in ("arguments", "tool"):
            raise ToolCallError(f"{key}: not wanted")
    tool, arguments = call["tool"], call["arguments"]
    if not isinstance(tool, str) or tool not in tools:
        raise ToolCallError(f"no tool {tool}" if isinstance(tool, str) else "no tool")
    if not isinstance(arguments, dict):
        raise ToolCallError("the arguments are not an object")
    declared = dict(tools[tool]["parameters"])
    for name, value in arguments.items():
        kind = declared.pop(name, None)
        if kind is None:
            raise ToolCallError(f"{name}: not declared")
        if kind is int and isinstance(value, bool) or not isinstance(value, kind):
            raise ToolCallError(f"{name}: {type(value).__name__} instead of {kind.__name__}")
    if declared:
        raise ToolCallError(f"{', '.join(declared)}: not given")
    return tool, tools[tool]["function"](**arguments)


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    state = State(build_messages(ticket_text, categories, tools))
    while state.step is Step.ASK:
        raw = client(state.messages)
        state.messages.append({"role": "assistant", "content": raw})
        try:
            record = _record(raw)
            if "tool" in record and len(state.results) == max_tool_calls:
                state.step = Step.GIVE_UP
            elif "tool" in record:
                name, result = run_tool_call(record, tools or {})
                state.results.append(result)
                state.messages.append({"role": "tool", "name": name, "content": json.dumps(result)})
            else:
                answer = Answer.checked(record, categories)
                state.step = Step.ANSWERED
                return state.finish(answer, state.refused + 1)
        except TriageError as error:
            state.refused += 1
            if state.refused == max_attempts:
                state.step = Step.GIVE_UP
            state.messages.append({"role": "user", "content": f"{error} (refused {state.refused} of {max_attempts})"})
    return state.finish(Answer(None, None, ticket_text.strip()[:SUMMARY_LIMIT], True), state.refused)


@dataclass
class Result:
    total: int = 0
    correct: int = 0
    fallbacks: int = 0
    schema_valid: int = 0
    accuracy: float = 0.0
    failures: List[dict] = field(default_factory=list)


def evaluate(cases, client_for, *, categories, tools=None):
    result = Result()
    for case in cases:
        result.total += 1
        got = triage(case["ticket"], client_for(case), categories=categories, tools=tools)
        category, needs_human = case["expected"]["category"], case["expected"]["needs_human"]
        if got["fallback"]:
            result.fallbacks += 1
            result.failures.append({"id": case["id"], "reason": f"fell back after {got['attempts']} attempts"})
        elif got["category"] == category and got["needs_human"] == needs_human:
            result.correct += 1
        elif got["category"] == category:
            result.failures.append({"id": case["id"], "reason": f"needs_human={got['needs_human']} (right: {needs_human})"})
        elif got["needs_human"] == needs_human:
            result.failures.append({"id": case["id"], "reason": f"category={got['category']} (right: {category})"})
        else:
            both = f"category={got['category']}, needs_human={got['needs_human']} (right: {category}, {needs_human})"
            result.failures.append({"id": case["id"], "reason": both})
    result.schema_valid = result.total - result.fallbacks
    if result.total:
        result.accuracy = round(result.correct / result.total, 3)
    return asdict(result)
