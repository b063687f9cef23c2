"""Objects with methods: a Conversation around the state, a Reply that checks itself, a Turn with one method for each step."""


class Conversation:
    def __init__(self, state):
        self.state = copy.deepcopy(state)

    @classmethod
    def new(cls):
        empty = {"history": [], "last_sources": [], "turn_log": []}
        unknown = {"last_result": None, "last_source_turn_id": None, "last_source_result_id": None}
        flags = {"tool_attempted_this_turn": False, "diagnostic_mode": False}
        return cls({"conversation_id": uuid.uuid4().hex, "next_turn_id": 1, **empty, **unknown, **flags})

    @property
    def turn_id(self):
        return self.state["next_turn_id"]

    def remember(self, message, reply):
        pairs = [*zip(self.state["history"][::2], self.state["history"][1::2])]
        pairs.append(({"role": "user", "content": message}, {"role": "assistant", "content": reply}))
        self.state["history"] = [said for pair in pairs[-HISTORY_PAIRS:] for said in pair]

    def log(self, status, tool):
        self.state["turn_log"].append(dict(turn_id=self.turn_id, status=status, tool=tool))

    def cite(self, result):
        origin = f"{self.state['conversation_id']}:{self.turn_id}"
        self.state.update(last_result=result, last_sources=result["cited"], last_source_turn_id=self.turn_id, last_source_result_id=origin)

    def end(self, message, result):
        self.remember(message, result["reply"])
        self.log(result["status"], result["tool"])
        if result["status"] == "answered":
            self.cite(result)
        self.state["next_turn_id"] = self.turn_id + 1
        return self.state


class Tool:
    def __init__(self, name, registry):
        self.name = name
        self.known = isinstance(name, str) and name in registry
        if self.known:
            self.function, self.parameters = registry[name]["function"], registry[name]["parameters"]

    def problem(self, arguments):
        if type(arguments) is not dict:
            return "the arguments have no names"
        for name in self.parameters:
            if name not in arguments:
                return f"{name} is needed"
        for name in arguments:
            if name not in self.parameters:
                return f"{name} is not a parameter"
            if type(arguments[name]) is not self.parameters[name]:
                return f"{name} is a {self.parameters[name].__name__}"
        return ""

    def attempt(self, state, arguments):
        if not self.known:
            return "unknown_tool", f"No tool is called {show(self.name)}"
        problem = self.problem(arguments)
        if problem:
            return "invalid_arguments", problem
        try:
            return "ok", self.function(state, **arguments)
        except Exception:
            return "tool_error", f"{self.name} did not work"


class Reply:
    """One reply of the model: an object, and what is wrong with it."""

    def __init__(self, raw):
        if type(raw) is not str:
            raise ReplyError("the reply is not a text")
        decoder = json.JSONDecoder(object_pairs_hook=self.record, parse_constant=self.constant)
        try:
            self.value = decoder.decode(raw.strip())
        except RecursionError:
            raise ReplyError("the reply is too deep") from None
        except ValueError as error:
            raise ReplyError(f"the reply is not JSON: {error}") from error
        if type(self.value) is not dict:
            raise ReplyError("the reply is not an object")

    @staticmethod
    def record(pairs):
        record = {}
        for name, value in pairs:
            if record.setdefault(name, pairs) is not pairs:
                raise ReplyError(f"{name}: twice")
            record[name] = value
        return record

    @staticmethod
    def constant(name):
        raise ReplyError(f"{name} is not JSON")

    def has_exactly(self, names):
        for name in names:
            if name not in self.value:
                raise ReplyError(f"{name} is missing")
        for name in self.value:
            if name not in names:
                raise ReplyError(f"{show(name)} is not known")

    def text(self, name):
        if type(self.value[name]) is not str or self.value[name].strip() == "":
            raise ReplyError(f"{name} is not a text that says something")

    def action(self):
        action = self.value.get("action")
        if type(action) is not str or action not in DECISIONS:
            raise ReplyError("action is missing, or not one that exists")
        return action


class Turn:
    def __init__(self, state, message, client, registry):
        self.state, self.message, self.client, self.registry = begin_turn(state, message), message, client, registry

    def end(self, status, reply, tool=None, cited=()):
        result = {"status": status, "reply": reply, "tool": tool, "cited": [*cited]}
        return finalize_turn(self.state, self.message, result), result

    def run(self):
        raw = self.client(selector_messages(self.state, self.message, self.registry))
        try:
            decision = parse_decision(raw)
        except ReplyError:
            return self.end("invalid_reply", "Please say that in another way.")
        return getattr(self, decision["action"])(decision)

    def clarify(self, decision):
        return self.end("clarification_needed", decision["reply"])

    def refuse(self, decision):
        return self.end("refused", decision["reply"])

    def tool(self, decision):
        name = decision["tool"]
        if name == "show_last_sources" and not self.state["last_sources"]:
            return self.end("clarification_needed", "There is nothing to show.")
        self.state, status, value = attempt_tool(self.state, name, decision["arguments"], self.registry)
        if status != "ok":
            return self.end(status, value, name if status == "tool_error" else None)
        return self.write(value) if name == "search_docs" else self.end("shown", value, name)

    def write(self, passages):
        if not passages:
            return self.end("no_source", "I have found nothing.", "search_docs")
        raw = self.client(writer_messages(self.message, passages))
        try:
            answer = parse_answer(raw, [passage["id"] for passage in passages])
        except ReplyError:
            return self.end("invalid_reply", "Please ask once more.", "search_docs")
        return self.end("answered", answer["answer"], "search_docs", answer["cited"])


def create_initial_state():
    return Conversation.new().state


def finalize_turn(state, message, result):
    return Conversation(state).end(message, copy.deepcopy(result))


def attempt_tool(state, name, arguments, registry):
    if state["tool_attempted_this_turn"]:
        raise TurnError("only one attempt")
    marked = Conversation(state).state
    marked["tool_attempted_this_turn"] = True
    return (marked, *Tool(name, registry).attempt(marked, arguments))


def parse_decision(raw):
    reply = Reply(raw)
    action = reply.action()
    reply.has_exactly(DECISIONS[action])
    if action != "tool":
        reply.text("reply")
    return reply.value


def parse_answer(raw, passage_ids):
    reply = Reply(raw)
    reply.has_exactly(("answer", "cited"))
    reply.text("answer")
    cited = reply.value["cited"]
    known = type(cited) is list and all(type(item) is str and item in passage_ids for item in cited)
    if not known or not 0 < len(cited) == len(set(cited)):
        raise ReplyError("cited: each id once, at least one, and only what was found")
    return reply.value


def run_turn(state, message, client, registry):
    return Turn(state, message, client, registry).run()
