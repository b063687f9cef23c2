"""kind 4 | passes: none | reason: its process sent what the protocol does not allow: unknown tag"""

import __main__

__main__.Worker.do = lambda self, message: ("returned", {"value": {"$equals everything": []}}) if message["kind"] != "load" else (
    "loaded", {"functions": ["parse_triage", "run_tool_call", "triage", "evaluate", "build_messages"], "values": [],
               "errors": {"TriageError": ["TriageError"], "ToolCallError": ["ToolCallError", "TriageError"]}})
