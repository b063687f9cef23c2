"""kind 11 | passes: all but a2 a3 a5 t1 t2 t4 c1
Tools are remembered by name over tests: those of an earlier call no longer answer.
"""

KEPT = {}
_attempt = attempt_tool


def attempt_tool(state, name, arguments, registry):
    for known, tool in registry.items():
        KEPT.setdefault(known, tool)
    return _attempt(state, name, arguments, KEPT if isinstance(name, str) and name in registry else registry)
