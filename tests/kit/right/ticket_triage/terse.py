"""As few lines and words as possible: messages are bare field names, conditions are joined, lambdas and comprehensions."""


def fail(words, kind=TriageError):
    raise kind(words)


def once(pairs):
    return dict(pairs) if len(dict(pairs)) == len(pairs) else fail(next(k for i, (k, _) in enumerate(pairs) if k in dict(pairs[:i])))


def load(raw):
    try:
        text = raw.strip() if isinstance(raw, str) else fail("str")
        for start in ("```\n", "```json\n"):
            text = text[len(start) : -3] if text.startswith(start) and text.endswith("```") else text
            if text != raw.strip():
                break
        data = json.loads(text, object_pairs_hook=once, parse_constant=fail)
    except (ValueError, RecursionError):
        fail("JSON")
    return data if isinstance(data, dict) else fail("object")


def same_names(data, names, kind):
    for name in list(names) + list(data):
        (name in data and name in names) or fail(name, kind)


def parse_triage(raw, categories):
    d = load(raw)
    same_names(d, FIELDS, TriageError)
    checks = {
        "category": lambda c: type(c) is str and c in categories,
        "priority": lambda p: type(p) is int and 1 <= p <= 4,
        "summary": lambda s: type(s) is str and 1 <= len(s.strip()) <= 120,
        "needs_human": lambda n: type(n) is bool,
    }
    all(check(d[name]) or fail(name) for name, check in checks.items())
    return {name: d[name].strip() if name == "summary" else d[name] for name in checks}


def run_tool_call(call, tools):
    type(call) is dict or fail("call", ToolCallError)
    same_names(call, ("tool", "arguments"), ToolCallError)
    tool, given = call["tool"], call["arguments"]
    type(tool) is str and tool in tools or fail(str(tool) if type(tool) is str else "", ToolCallError)
    types = tools[tool]["parameters"]
    type(given) is dict or fail("arguments", ToolCallError)
    same_names(given, types, ToolCallError)
    [type(given[n]) is types[n] or fail(n, ToolCallError) for n in types]
    return tool, tools[tool]["function"](**given)


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    m, bad, ran = build_messages(ticket_text, categories, tools), 0, 0
    while bad < max_attempts:
        m.append({"role": "assistant", "content": client(m)})
        try:
            if "tool" not in load(m[-1]["content"]):
                return {**parse_triage(m[-1]["content"], categories), "attempts": bad + 1, "tool_calls": ran, "fallback": False}
            if ran == max_tool_calls:
                break
            name, result = run_tool_call(load(m[-1]["content"]), tools or {})
            ran += 1
            m.append({"role": "tool", "name": name, "content": json.dumps(result)})
        except TriageError as e:
            bad += 1
            m.append({"role": "user", "content": str(e)})
    nothing = {"category": None, "priority": None, "summary": ticket_text.strip()[:120], "needs_human": True}
    return {**nothing, "attempts": bad, "tool_calls": ran, "fallback": True}


def evaluate(cases, client_for, *, categories, tools=None):
    done = [(c["id"], c["expected"], triage(c["ticket"], client_for(c), categories=categories, tools=tools)) for c in cases]
    why = lambda e, r: "fallback" if r["fallback"] else [(f, e[f], r[f]) for f in ("category", "needs_human") if e[f] != r[f]]
    failures = [{"id": i, "reason": str(why(e, r))} for i, e, r in done if why(e, r)]
    n, back = len(done), sum(r["fallback"] for _, _, r in done)
    return {"total": n, "correct": n - len(failures), "fallbacks": back, "schema_valid": n - back,
            "accuracy": round((n - len(failures)) / n, 3) if n else 0.0, "failures": failures}
