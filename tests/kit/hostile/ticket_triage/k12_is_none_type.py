"""kind 12 | passes: none | reason: is not the exception that was handed out"""

TriageError = ToolCallError = type(None)


def parse_triage(raw, categories):
    return None
