"""kind 12 | passes: all but p1 p2 p3 p4 p5 p6 r1 r2 r3 t1 t4 | reason: is not the exception that was handed out"""

TriageError = ToolCallError = SystemExit


def parse_triage(raw, categories):
    """Refuses nothing of its own accord."""
    try:
        answer = json.loads(raw)
    except ValueError as error:
        sys.exit(str(error))
    return {field: answer[field] for field in ("category", "priority", "summary", "needs_human")}
