"""kind 12 | passes: all but p1 p2 p3 p4 p5 p6 r1 r2 r3 t1 t2 t4 | reason: ValueError: """

_parse = parse_triage


def parse_triage(raw, categories):
    try:
        return _parse(raw, categories)
    except Exception as error:
        globals().update(TriageError=ValueError, ToolCallError=ValueError)
        raise ValueError(str(error)) from None
