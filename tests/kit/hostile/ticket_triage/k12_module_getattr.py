"""kind 12 | passes: none | reason: is not the exception that was handed out"""

_Refused = TriageError
del TriageError


def __getattr__(name):
    return ValueError if name == "TriageError" else _Refused


def parse_triage(raw, categories):
    raise ValueError("category, priority, summary, needs_human")
