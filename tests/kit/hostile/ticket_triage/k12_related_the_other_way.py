"""kind 12 | passes: all but e1 r1 r2 r3 t4 | reason: ToolCallError is not the exception that was handed out"""

class ToolCallError(Exception):
    pass


class TriageError(ToolCallError):
    pass
