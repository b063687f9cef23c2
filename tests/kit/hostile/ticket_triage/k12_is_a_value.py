"""kind 12 | passes: all but p1 p2 p3 p4 p5 p6 r1 r2 r3 t1 t2 t4 | reason: is not the exception that was handed out"""

TriageError = (ValueError, TypeError, KeyError)
ToolCallError = "TriageError"


def parse_triage(raw, categories):
    raise ValueError("category, priority, summary, needs_human")
