"""kind 11 | passes: all
State in globals and in a default argument, and functions that are no plain functions.
"""

import functools
from dataclasses import dataclass, field

CALLS = []
_parse, _evaluate = parse_triage, evaluate


@dataclass
class Seen:
    raw: str
    notes: list = field(default_factory=list)


@functools.wraps(_parse)
def parse_triage(raw, categories, memory={}):
    CALLS.append(Seen(raw))
    memory[len(memory)] = raw
    return _parse(raw, categories)


class Evaluate:
    def __call__(self, *args, **kwargs):
        return _evaluate(*args, **kwargs)


evaluate = Evaluate()
run_tool_call = functools.partial(run_tool_call)
