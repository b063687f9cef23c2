"""kind 12 | passes: all"""

class TriageError(Exception):
    """Made here, as handed out; what is provided above raises the other one."""


class ToolCallError(TriageError):
    pass
