"""A subclass of json.JSONDecoder does the strict reading; a table of (field, test, words) does the rest."""


class StrictDecoder(json.JSONDecoder):
    def __init__(self):
        super().__init__(object_pairs_hook=self.build, parse_constant=self.stop)

    def stop(self, name):
        raise ValueError(f"{name} stands outside of JSON")

    def build(self, pairs):
        seen = dict(pairs)
        for name, _ in pairs[::-1]:
            if seen.pop(name, self) is self:
                raise ValueError(f"the name {json.dumps(name)} stands twice")
        return dict(pairs)

    def decode(self, text):
        value = super().decode(self.strip_fence(text.strip()))
        if value.__class__ is not dict:
            raise ValueError("the outermost value is not an object")
        return value

    def strip_fence(self, text):
        head, newline, tail = text.partition("\n")
        if newline and head.rstrip(" \t\r").lower() in ("```", "``` json", "```json") and tail[-3:] == "```":
            return tail[:-3]
        return text


STRICT = StrictDecoder()
RULES = (
    ("category", lambda value, known: type(value) is str and value in known, "must be a known category"),
    ("priority", lambda value, known: type(value) is int and value in PRIORITIES, "must be an integer from 1 to 4"),
    ("summary", lambda value, known: type(value) is str and len(value.strip()) in range(1, SUMMARY_LIMIT + 1), "must be short"),
    ("needs_human", lambda value, known: type(value) is bool, "must be true or false"),
)


def _read(raw):
    if not isinstance(raw, str):
        raise TriageError("raw must be a str")
    try:
        return STRICT.decode(raw)
    except (ValueError, RecursionError) as error:
        raise TriageError(str(error)) from error


def parse_triage(raw, categories):
    record = _read(raw)
    unknown = set(record).difference(FIELDS)
    if unknown:
        raise TriageError(f"{sorted(unknown)}: unknown")
    for field, test, words in RULES:
        if field not in record or not test(record[field], categories):
            raise TriageError(f"{field} {words}")
    record["summary"] = record["summary"].strip()
    return record


TYPES = {int: (int,), str: (str,), float: (float,), bool: (bool,)}


def run_tool_call(call, tools):
    if type(call) is not dict or sorted(call) != ["arguments", "tool"]:
        names = "" if type(call) is not dict else " ".join(set(call) ^ {"tool", "arguments"})
        raise ToolCallError("a call has exactly the keys tool and arguments: " + names)
    if type(call["tool"]) is not str or tools.get(call["tool"]) is None:
        raise ToolCallError("no such tool: " + ascii(call["tool"])[:70] if type(call["tool"]) is str else "no such tool")
    tool = tools[call["tool"]]
    if type(call["arguments"]) is not dict:
        raise ToolCallError("arguments must be an object")
    for name in {**tool["parameters"], **call["arguments"]}:
        if name not in tool["parameters"]:
            raise ToolCallError(name + " is not declared")
        if name not in call["arguments"]:
            raise ToolCallError(name + " is not given")
        if type(call["arguments"][name]) not in TYPES[tool["parameters"][name]]:
            raise ToolCallError(name + " has another type")
    return call["tool"], tool["function"](**call["arguments"])


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    messages = build_messages(ticket_text, categories, tools)
    counts = {"attempts": 0, "tool_calls": 0}

    def add(role, content, **more):
        messages.append({"role": role, **more, "content": content})

    def turn():
        """Return the result, or None when the client is to be asked again."""
        raw = client(messages)
        add("assistant", raw)
        try:
            record = _read(raw)
            if "tool" not in record:
                answer = parse_triage(raw, categories)
                counts["attempts"] += 1
                return {**answer, **counts, "fallback": False}
            if counts["tool_calls"] >= max_tool_calls:
                return fallback()
            name, result = run_tool_call(record, tools or {})
        except TriageError as error:
            counts["attempts"] += 1
            add("user", "That was wrong:\n" + str(error))
            return None if counts["attempts"] < max_attempts else fallback()
        counts["tool_calls"] += 1
        add("tool", json.dumps(result), name=name)
        return None

    def fallback():
        guess = {"category": None, "priority": None, "summary": ticket_text.strip()[:SUMMARY_LIMIT], "needs_human": True}
        return {**guess, **counts, "fallback": True}

    result = None
    while result is None:
        result = turn()
    return result


def evaluate(cases, client_for, *, categories, tools=None):
    failures, numbers = [], []
    for case in cases:
        result = triage(case["ticket"], client_for(case), categories=categories, tools=tools)
        pairs = [(field, case["expected"][field], result[field]) for field in ("category", "needs_human")]
        correct = not result["fallback"] and all(expected == got for _, expected, got in pairs)
        numbers.append((correct, result["fallback"]))
        if not correct:
            reason = "fell back" if result["fallback"] else " ".join(f"{field}: {want}!={got}" for field, want, got in pairs)
            failures.append({"id": case["id"], "reason": reason})
    correct, fallbacks = (sum(column) for column in zip(*numbers)) if numbers else (0, 0)
    return {
        "total": len(numbers), "correct": correct, "fallbacks": fallbacks, "schema_valid": len(numbers) - fallbacks,
        "accuracy": round(correct / len(numbers), 3) if numbers else 0.0, "failures": failures,
    }
