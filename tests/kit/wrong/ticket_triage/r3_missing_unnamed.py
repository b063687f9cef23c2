"""R3: a missing argument is refused with a list of all parameters, so that none is named."""


def run_tool_call(call, tools):
    if type(call) is not dict:
        raise ToolCallError(f"tool call: expected an object, got {show(call)}")
    _exactly(call, ("tool", "arguments"), ToolCallError)
    name, arguments = call["tool"], call["arguments"]
    if type(name) is not str or name not in tools:
        raise ToolCallError(f"tool: expected one of {', '.join(tools)}, got {show(name)}")
    parameters = tools[name]["parameters"]
    if type(arguments) is not dict:
        raise ToolCallError(f"arguments: expected an object, got {show(arguments)}")
    if arguments.keys() != parameters.keys():
        raise ToolCallError(f"{', '.join(parameters)} are expected, got {', '.join(set(arguments) - set(parameters))}")
    for parameter, kind in parameters.items():
        value = arguments[parameter]
        if not isinstance(value, kind) or (kind is int and type(value) is bool):
            raise ToolCallError(f"{parameter}: expected {kind.__name__}, got {show(value)}")
    return name, tools[name]["function"](**arguments)
