"""R4: the function runs before the last argument is checked."""


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
    _exactly(arguments, parameters, ToolCallError)
    result = None
    for number, (parameter, kind) in enumerate(parameters.items(), 1):
        if number == len(parameters) > 1:
            try:
                result = tools[name]["function"](**arguments)
            except TypeError:
                pass
        value = arguments[parameter]
        if not isinstance(value, kind) or (kind is int and type(value) is bool):
            raise ToolCallError(f"{parameter}: expected {kind.__name__}, got {show(value)}")
    return name, result if len(parameters) > 1 else tools[name]["function"](**arguments)
