"""kind 1 | passes: all but a1 a2 a3 a5 t1 t2 t4 c1 | reason: its process ended by itself
It ends the process while the grader waits for what a tool leads to.
"""


def attempt_tool(state, name, arguments, registry):
    os._exit(0)
