"""T4: ToolCallError is no TriageError, so a refused tool call leaves triage as an exception."""


class ToolCallError(Exception):
    """A tool call is refused; the message names the tool, the key or the parameter."""
