"""kind 5 | passes: all but a1 a2 a3 a5 t1 t2 t4 c1 | limit 1
It calls a tool again and again; the time of the test ends that, not the grader's patience.
"""


def attempt_tool(state, name, arguments, registry):
    while True:
        for tool in registry.values():
            tool["function"](state)
