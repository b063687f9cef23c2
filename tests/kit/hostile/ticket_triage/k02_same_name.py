"""kind 2 | passes: all but p1 p2 p3 p4 p5 p6 t1 | reason: TriageError: category priority summary needs_human
An exception class of the right name that is not the module's TriageError.
"""

def parse_triage(raw, categories):
    raise type("TriageError", (Exception,), {})("category priority summary needs_human")
