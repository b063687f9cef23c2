"""kind 11 | passes: all"""

class Refused(ValueError):
    pass


class NotAllowed(Refused, LookupError):
    pass


TriageError, ToolCallError = Refused, NotAllowed
