"""Makes a submission that has the answers written in: every call of the tests at seed 0, looked up in a table.

The table is recorded from the solution while the tests run on it. A key is the function, what it was given, and what
came from outside since then (replies of the client, results of tools); the entry is what the solution does next: ask,
run a tool, return, or raise. So the submission passes all tests that it has seen, and knows nothing else.
"""

import copy
import sys
import types

import frame
from kit import LABS, solution_of

from grader.grading import run_tests, tests_of

PLAYER = """
import hashlib
import re


def _shown(value):
    if callable(value) and not isinstance(value, type):
        return "a function"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_shown(item)}" for name, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(_shown, value))})"
    text = repr(sorted(value)) if isinstance(value, (set, frozenset)) else repr(value)
    return re.sub("\\\\[{40,}|\\\\]{40,}", lambda found: found[0][:40], text)  # how deep is too deep differs from call to call


def _key(*parts):
    return hashlib.sha256(_shown(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _play(name, given, functions):
    heard = []
    while True:
        kind, what = TABLE[_key(name, given, heard)]
        if kind == "return":
            return what
        if kind == "raise":
            raise {"TriageError": TriageError, "ToolCallError": ToolCallError}.get(what[0], ValueError)(what[1])
        heard.append(functions[what[0]](*what[1], **what[2]))


def parse_triage(raw, categories):
    return _play("parse_triage", (raw, categories), {})


def run_tool_call(call, tools):
    return _play("run_tool_call", (call, tools), {name: tool["function"] for name, tool in tools.items()})


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    functions = {"": client, **{name: tool["function"] for name, tool in (tools or {}).items()}}
    return _play("triage", (ticket_text, categories, tools, max_attempts, max_tool_calls), functions)
"""


class Recorder:
    """Stands between the tests and the solution, and writes down what goes through."""

    def __init__(self, lab):
        self.lab, self.table = lab, {}
        player = types.ModuleType("player")
        exec(PLAYER, vars(player))
        self.key = player._key

    def note(self, name, given, heard, kind, what):
        self.table[self.key(name, given, heard)] = (kind, what)

    def run(self, name, given, work, functions):
        """Run work(functions) on functions that record what they are asked; write down how it ends."""
        heard = []

        def recorded(place):
            def function(*args, **kwargs):
                self.note(name, given, heard, "ask", copy.deepcopy((place, args, kwargs)))  # messages may grow
                answer = functions[place](*args, **kwargs)
                heard.append(answer)
                return answer

            return function

        try:
            value = work({place: recorded(place) for place in functions})
        except self.lab.TriageError as error:
            self.note(name, given, heard, "raise", (type(error).__name__, str(error)))
            raise
        self.note(name, given, heard, "return", value)
        return value

    def parse_triage(self, raw, categories):
        return self.run("parse_triage", (raw, categories), lambda _: self.solved.parse_triage(raw, categories), {})

    def run_tool_call(self, call, tools):
        work = lambda functions: self.solved.run_tool_call(call, with_functions(tools, functions))
        return self.run("run_tool_call", (call, tools), work, functions_of(tools))

    def triage(self, ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
        def work(functions):
            own = None if tools is None else with_functions(tools, functions)
            limits = {"max_attempts": max_attempts, "max_tool_calls": max_tool_calls}
            return self.solved.triage(ticket_text, functions[""], categories=categories, tools=own, **limits)

        return self.run(
            "triage",
            (ticket_text, categories, tools, max_attempts, max_tool_calls),
            work,
            {"": client, **functions_of(tools or {})},
        )


def functions_of(tools):
    return {name: tool["function"] for name, tool in tools.items()}


def with_functions(tools, functions):
    return {name: {**tool, "function": functions[name]} for name, tool in tools.items()}


def loaded(text):
    module = types.ModuleType("ticket_triage")
    exec(compile(text, "ticket_triage.py", "exec", dont_inherit=True), vars(module))
    return module


def with_answers_written_in():
    """Return the text of the submission that looks every call of ticket_triage's tests up, recorded at seed 0."""
    text = solution_of("ticket_triage")
    for lab in LABS:
        sys.modules.pop(lab, None)
    module = loaded(text)  # what the tests call
    recorder = Recorder(module)
    recorder.solved = types.SimpleNamespace(
        parse_triage=module.parse_triage, run_tool_call=module.run_tool_call, triage=module.triage
    )
    # the solution itself calls the recorded ones, as evaluate and main do in a submission
    module.parse_triage, module.run_tool_call, module.triage = (
        recorder.parse_triage,
        recorder.run_tool_call,
        recorder.triage,
    )
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 1000)  # the recorder's own frames, so that the solution has as many as ever
    try:
        run_tests(tests_of("ticket_triage", module, seed=0))
    finally:
        sys.setrecursionlimit(limit)
    return frame.framed("ticket_triage", PLAYER) + f"\n\nTABLE = {recorder.table!r}\n"
