"""C3: a case that lacks a field is told without its id."""


def load_scenario(folder):
    place = os.path.join(folder, "scenario.json")
    record = read_json(place)
    name = require(place, record, "name", A_NAME)
    categories = require(place, record, "categories", list_of(A_NAME))
    min_accuracy = require(place, record, "min_accuracy", A_RATE)
    tools = require(place, record, "tools", AN_OBJECT)
    tools = {tool: recorded_tool(f"{place}: tool {show(tool)}", tools[tool]) for tool in tools}
    place = os.path.join(folder, "cases.json")
    cases = read_json(place)
    if type(cases) is not list:
        raise ScenarioError(f"{place}: expected a list of cases, got {show(cases)}")
    seen = set()
    for number, case in enumerate(cases, start=1):
        case_id = require(f"{place}: case {number}", case, "id", A_NAME)
        named = f"{place}: case {number}"
        if case_id in seen:
            raise ScenarioError(f"{named}: id: used by two cases")
        seen.add(case_id)
        require(named, case, "ticket", A_STRING)
        expected = require(named, case, "expected", AN_OBJECT)
        require(f"{named}: expected", expected, "category", one_of(categories))
        require(f"{named}: expected", expected, "needs_human", A_BOOL)
        require(named, case, "replies", list_of(A_STRING))
    return {"name": name, "categories": categories, "min_accuracy": min_accuracy, "tools": tools, "cases": cases}
