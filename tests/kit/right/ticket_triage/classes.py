"""Classes: a Reply that decodes itself, a Conversation with its counters, a Scoreboard; tools checked by a small class."""


class Reply:
    def __init__(self, raw):
        self.raw = raw
        self.content = self.decode()

    def text(self):
        if not isinstance(self.raw, str):
            raise TriageError("the client did not return text")
        text = self.raw.strip()
        for opening in ("```json\n", "```\n"):
            if text.startswith(opening) and text.endswith("\n```"):
                return text[len(opening) : -len("\n```")]
        return text

    @staticmethod
    def pairs(pairs):
        content = {}
        for key, value in pairs:
            if content.setdefault(key, value) is not value or list(k for k, _ in pairs).count(key) > 1:
                raise TriageError(f"field {key} occurs more than once")
        return content

    @staticmethod
    def constant(name):
        raise TriageError(f"constant {name}")

    def decode(self):
        try:
            content = json.loads(self.text(), object_pairs_hook=self.pairs, parse_constant=self.constant)
        except (ValueError, RecursionError) as error:
            raise TriageError("this is not one JSON value") from error
        if not isinstance(content, dict):
            raise TriageError("this is not a JSON object")
        return content

    @property
    def is_tool_call(self):
        return "tool" in self.content

    def answer(self, categories):
        left = dict(self.content)
        values = []
        for field in ("category", "priority", "summary", "needs_human"):
            try:
                values.append(left.pop(field))
            except KeyError:
                raise TriageError(f"field {field} is required") from None
        if left:
            raise TriageError(f"field {left.popitem()[0]} is not allowed")
        category, priority, summary, needs_human = values
        if not isinstance(category, str) or category not in categories:
            raise TriageError("field category: not in the list")
        if not isinstance(priority, int) or isinstance(priority, bool) or not 1 <= priority <= 4:
            raise TriageError("field priority: not from 1 to 4")
        if not isinstance(summary, str) or not summary.strip() or len(summary.strip()) > 120:
            raise TriageError("field summary: not 1 to 120 characters long")
        if not isinstance(needs_human, bool):
            raise TriageError("field needs_human: not a boolean")
        return {"needs_human": needs_human, "summary": summary.strip(), "priority": priority, "category": category}


class Whitelist:
    def __init__(self, tools):
        self.tools = tools

    def run(self, call):
        if not isinstance(call, dict):
            raise ToolCallError("expected a dict")
        if call.keys() != {"tool", "arguments"}:
            extra, missing = call.keys() - {"tool", "arguments"}, {"tool", "arguments"} - call.keys()
            raise ToolCallError(f"keys: {extra or ''} too many, {missing or ''} missing")
        name = call["tool"]
        try:
            tool = self.tools[name]
        except KeyError:
            raise ToolCallError(f"tool {name} is not on the whitelist") from None
        except TypeError:
            raise ToolCallError(f"a tool has a name, not a {type(name).__name__}") from None
        self.check(call["arguments"], tool["parameters"])
        return name, tool["function"](**call["arguments"])

    def check(self, arguments, parameters):
        if not isinstance(arguments, dict):
            raise ToolCallError("expected a dict of arguments")
        if arguments.keys() != parameters.keys():
            names = sorted(arguments.keys() ^ parameters.keys())
            raise ToolCallError(f"parameter {names[0]}: missing or undeclared")
        for name, value in arguments.items():
            if not self.fits(value, parameters[name]):
                raise ToolCallError(f"parameter {name}: not {parameters[name].__name__}")

    @staticmethod
    def fits(value, kind):
        if isinstance(value, bool):
            return kind is bool
        return isinstance(value, kind)


class Conversation:
    def __init__(self, ticket_text, client, categories, tools):
        self.ticket_text, self.client, self.categories = ticket_text, client, categories
        self.whitelist = Whitelist(tools or {})
        self.messages = build_messages(ticket_text, categories, tools)
        self.refused = self.ran = 0

    def ask(self):
        raw = self.client(list(self.messages))
        self.messages.append({"role": "assistant", "content": raw})
        return raw

    def refuse(self, error):
        self.refused += 1
        self.messages.append({"role": "user", "content": "Please correct this: " + str(error)})

    def run(self, reply):
        name, result = self.whitelist.run(reply.content)
        self.ran += 1
        self.messages.append({"role": "tool", "name": name, "content": json.dumps(result)})

    def result(self, answer, attempts, fallback):
        return {**answer, "attempts": attempts, "tool_calls": self.ran, "fallback": fallback}

    def fallback(self):
        summary = self.ticket_text.strip()[:120]
        answer = {"category": None, "priority": None, "summary": summary, "needs_human": True}
        return self.result(answer, self.refused, True)


def parse_triage(raw, categories):
    return Reply(raw).answer(categories)


def run_tool_call(call, tools):
    return Whitelist(tools).run(call)


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    talk = Conversation(ticket_text, client, categories, tools)
    while talk.refused < max_attempts:
        raw = talk.ask()
        try:
            reply = Reply(raw)
            if not reply.is_tool_call:
                return talk.result(reply.answer(categories), talk.refused + 1, False)
            if talk.ran >= max_tool_calls:
                return talk.fallback()
            talk.run(reply)
        except TriageError as error:
            talk.refuse(error)
    return talk.fallback()


class Scoreboard:
    def __init__(self):
        self.report = {"total": 0, "correct": 0, "fallbacks": 0, "failures": []}

    def add(self, case, result):
        self.report["total"] += 1
        self.report["fallbacks"] += 1 if result["fallback"] else 0
        reason = self.reason(case["expected"], result)
        if reason is None:
            self.report["correct"] += 1
        else:
            self.report["failures"].append({"id": case["id"], "reason": reason})

    @staticmethod
    def reason(expected, result):
        if result["fallback"]:
            return "fallback: category was %r, and None came" % (expected["category"],)
        wrong = {field: (expected[field], result[field]) for field in ("category", "needs_human") if expected[field] != result[field]}
        return f"(expected, came): {wrong}" if wrong else None

    def finish(self):
        total = self.report["total"]
        self.report["schema_valid"] = total - self.report["fallbacks"]
        self.report["accuracy"] = float(round(self.report["correct"] / max(total, 1), 3))
        return self.report


def evaluate(cases, client_for, *, categories, tools=None):
    board = Scoreboard()
    for case in cases:
        board.add(case, triage(case["ticket"], client_for(case), categories=categories, tools=tools))
    return board.finish()
