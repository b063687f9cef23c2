"""kind 7 | passes: all but t4 | reason: bytes in one test"""

_right = run_tool_call


def run_tool_call(call, tools):
    try:
        return _right(call, tools)
    except ToolCallError as error:
        raise ToolCallError(str(error) + "x" * 200_000) from error
