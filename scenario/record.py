"""Record a model: let it answer the cases of a scenario once, keep its replies, and replay them for ever.

    python scenario/record.py starter scenario/ticket_triage --base-url http://127.0.0.1:8080/v1 --model NAME --out my_recording
    python starter/ticket_triage.py my_recording

Any server that speaks OpenAI's chat completions will do: OpenAI, Ollama, llama.cpp, vLLM. The target runs in this
process: record your own code, on your own machine. The API key is read from the environment and from nowhere else.
Exit codes: 0 every case is recorded; 1 some are not; 2 the command line, the target or a folder is wrong.
"""

import argparse
import concurrent.futures
import contextlib
import copy
import datetime
import email.utils
import http.client
import io
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
import traceback
import types
import urllib.error
import urllib.request
from pathlib import Path

# ---- words and limits

LAB = "ticket_triage"
KEY_VARIABLE = "OPENAI_API_KEY"
SETTINGS = ("temperature", "seed", "max_tokens", "max_completion_tokens", "response_format")
ANSWER_LIMIT = 4 << 20  # bytes of one answer of the server
CALL_LIMIT = 20  # replies to one case: a target that asks for more goes round in a loop, and each turn costs money
RETRIES = 4
WAIT_LIMIT = 60.0  # seconds before a retry, whatever Retry-After asks for
CONNECT_LIMIT = 10.0  # seconds to connect to one address
SECRET_LENGTH = 8  # a shorter key ("none", "ollama") is no secret, and may well stand in a reply
TICK = 0.2  # seconds until a stop or a deadline is seen
STOPPED = "stopped"


class UsageError(Exception):
    """The command line, the target or a folder is wrong."""


class RecordError(Exception):
    """A case cannot be recorded. for_all: the next could not either. passing: another try may help, after `wait` seconds."""

    def __init__(self, message, *, for_all=False, passing=False, wait=None):
        super().__init__(message)
        self.for_all, self.passing, self.wait = for_all, passing, wait


def one_line(text, limit=200):
    """Return text as a message shows it: on one line, control, format and surrogate characters escaped, cut."""
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in " ".join(str(text).split()))
    return text if len(text) <= limit else text[: limit - 3] + "..."


def explain(body):
    """Return what an error body says: the message of the usual JSON shapes, else its text without HTML tags."""
    text = body.decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):  # not JSON; nested too deep
        return re.sub(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]*>", " ", text[:4000]).strip() or "no text"
    for name in ("error", "message", "detail"):  # {"error": {"message": ...}}, {"error": ...}, {"detail": ...}
        if isinstance(said, dict) and said.get(name):
            said = said[name]
    return said if isinstance(said, str) else json.dumps(said)


def seconds_asked(header, now):
    """Return the seconds from now that a Retry-After header asks for, a number or an HTTP date; None if it is neither."""
    text = (header or "").strip()
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text)
    try:
        return email.utils.mktime_tz(email.utils.parsedate_tz(text)) - now
    except (TypeError, ValueError, IndexError, OverflowError):  # no date, or none that a calendar has
        return None


# ---- the client


class TimedReader(io.RawIOBase):
    """Reads a socket for as long as left() gives seconds: a server that sends a byte a second never meets its timeout."""

    def __init__(self, file, sock, left):
        self.file, self.sock, self.left = file, sock, left

    readable = lambda self: True

    def readinto(self, buffer):
        while True:
            self.sock.settimeout(self.left())
            with contextlib.suppress(socket.timeout):
                return self.sock.recv_into(buffer)

    def close(self):
        self.file.close()  # http.client's own file: it keeps the socket open until here
        super().close()


class Line(urllib.request.HTTPHandler):
    """Opens http and https, and makes a timeout one for the whole request."""

    def __init__(self, stop):
        super().__init__()
        self.stop = stop

    def http_open(self, request, kind=http.client.HTTPConnection):
        ends = time.monotonic() + request.timeout

        def left():
            if self.stop.is_set() or time.monotonic() >= ends:
                raise RecordError(STOPPED if self.stop.is_set() else f"no whole answer within {request.timeout:g} s (--timeout)")
            return TICK

        def response(sock, *args, **options):
            answer = http.client.HTTPResponse(sock, *args, **options)
            answer.fp = io.BufferedReader(TimedReader(answer.fp, sock, left))
            return answer

        def connection(host, timeout):
            made = kind(host, timeout=min(timeout, CONNECT_LIMIT))
            made.response_class = response
            return made
        return self.do_open(connection, request)

    def https_open(self, request):
        return self.http_open(request, http.client.HTTPSConnection)

    https_request = urllib.request.HTTPHandler.http_request


def checked_url(text):
    """Return a base URL without its last slash; UsageError, which shows nothing of it (a password?), if it is none."""
    if not re.fullmatch(r"(?ai)https?://([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?(/[!-~]*)?", text) or re.search("[?#@]", text):
        raise UsageError("--base-url: expected http:// or https://, a host and a path, without a password, ? and #")
    return text.rstrip("/")


def for_any_server(message):
    """Return a message as every server takes it: a tool's result has no tool_call_id, so the user says it, in a fence."""
    if message["role"] != "tool":
        return message
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", message["content"])), default=0))
    return {"role": "user", "content": f"The tool {message['name']} returned:\n{fence}\n{message['content']}\n{fence}"}


class ChatClient:
    """A client, client(messages) -> str, that asks a chat-completions server. Threads may share one.

    base_url ends where /chat/completions begins. settings: further fields of each request, such as {"temperature": 0}.
    timeout: seconds for one request. keep_cut: a reply that was cut at the token limit is a reply too.
    sleep (seconds) and now (seconds since 1970) are there for tests. Set `stop`, and every call ends with a RecordError.
    """

    def __init__(self, base_url, model, *, key="", settings=None, timeout=120.0, keep_cut=False, sleep=None, now=time.time):
        self.url = checked_url(base_url) + "/chat/completions"
        self.model, self.settings, self.timeout, self.keep_cut = model, dict(settings or {}), timeout, keep_cut
        self.spent = {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0}
        self.stop = threading.Event()
        self._key, self._sleep, self._now, self._lock = key, sleep or self.stop.wait, now, threading.Lock()
        self._headers = {"Content-Type": "application/json", "User-Agent": "model-reply-labs"}
        self._headers.update({"Authorization": f"Bearer {key}"} if key else {})
        here = re.match(r"https?://(localhost|127\.[0-9.]+|\[::1\])[:/]", self.url)  # not by a proxy: it has a loopback of its own
        self._opener = urllib.request.OpenerDirector()  # bare: what follows redirects would take the key to another host
        for handler in (urllib.request.ProxyHandler({} if here else None), Line(self.stop)):
            self._opener.add_handler(handler)

    def __call__(self, messages):
        """Return the model's reply to a conversation; RecordError says why there is none."""
        question = {"model": self.model, "messages": [for_any_server(message) for message in messages], **self.settings}
        body = json.dumps(question).encode("ascii")
        for retry in range(RETRIES + 1):
            if self.stop.is_set():
                raise RecordError(STOPPED)
            try:
                return self._reply(self._answer(body))
            except RecordError as error:
                if retry == RETRIES or not error.passing:
                    raise
                wait = 2.0**retry if error.wait is None else max(error.wait, 0.0)
            self._sleep(min(wait, WAIT_LIMIT))

    def _answer(self, body):
        """Send one request, and return the body of a good answer."""
        request = urllib.request.Request(self.url, data=body, headers=self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                answer = response.read(ANSWER_LIMIT + 1)
                if len(answer) > ANSWER_LIMIT:
                    raise RecordError(f"the answer has more than {ANSWER_LIMIT} bytes")
                if response.length or (response.status == 200 and not answer):  # read(n) does not say that the end came early
                    raise http.client.IncompleteRead(answer, response.length)
        except (OSError, http.client.HTTPException, UnicodeError, OverflowError) as error:
            raise self._lost(error) from None  # it may show what the server said
        if not 200 <= response.status < 300:
            raise self._refusal(response.status, response.headers, answer)
        return answer

    def _lost(self, error):
        """Return the RecordError for a connection that cannot be made, or that broke."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        never = (ConnectionRefusedError, socket.gaierror, ssl.SSLError, UnicodeError, OverflowError)  # no host, no such port
        hopeless = isinstance(reason, never) and not isinstance(reason, ssl.SSLEOFError)
        return RecordError(f"{self.url}: no answer: {self._shown(reason)}", for_all=hopeless, passing=not hopeless)

    def _refusal(self, status, headers, body):
        """Return the RecordError for an answer whose status is no success."""
        if 300 <= status < 400:
            place = self._shown(headers.get("Location", "nowhere"))
            return RecordError(f"{self.url}: {status}: not followed to {place}: give the right --base-url", for_all=True)
        message = f"{self.url}: {status}: {self._shown(explain(body))}"
        if b"insufficient_quota" in body:  # comes as 429, but no waiting helps: OpenAI's word for an empty account
            return RecordError(message, for_all=True)
        wait = seconds_asked(headers.get("Retry-After"), self._now())
        passing = status in (408, 409, 429) or status >= 500
        return RecordError(message, for_all=401 <= status <= 405, passing=passing, wait=wait)

    def _reply(self, answer):
        """Return the reply that a good answer holds, and count its tokens."""
        try:
            record = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"expected JSON from the server, got {self._shown(explain(answer))}") from error
        record = record if type(record) is dict else {}
        self._count(record.get("usage"))
        choices = record.get("choices")
        if type(choices) is not list or not choices or type(choices[0]) is not dict:
            raise RecordError(f"choices: expected at least one, got {self._shown(explain(answer))}")
        message, reason = choices[0].get("message"), choices[0].get("finish_reason")
        reply = message.get("content") if type(message) is dict else None
        if reason == "length" and not self.keep_cut:
            raise RecordError("finish_reason: length: the reply is cut at the token limit (see --max-tokens and --keep-cut)")
        if type(reply) is not str:
            raise RecordError(f"content: expected text, got {self._shown(json.dumps(choices[0]))}")
        if len(self._key) >= SECRET_LENGTH and self._key in reply:
            raise RecordError("content: the reply repeats the API key, so it is not kept")
        return reply

    def _shown(self, text):
        """Return what a server said as a message may show it: without the key, should it say the key."""
        return one_line(str(text).replace(self._key, "[key]") if len(self._key) >= SECRET_LENGTH else text)

    def _count(self, usage):
        counts = {"requests": 1, **(usage if type(usage) is dict else {})}
        with self._lock:
            for name in self.spent:
                self.spent[name] += counts[name] if type(counts.get(name)) is int else 0


# ---- the recording


def load_target(text):
    """Return the lab's module that a target names: starter, solution, a folder or a file; UsageError if it has none."""
    path = Path(__file__).parents[1] / text if text in ("starter", "solution") and not Path(text).exists() else Path(text)
    path = (path / f"{LAB}.py" if path.is_dir() else path).resolve()
    module = sys.modules[LAB] = types.ModuleType(LAB)
    module.__file__ = str(path)
    sys.path.insert(0, str(path.parent))
    sys.dont_write_bytecode = True
    source = path.read_bytes()  # the file as it is now, and no cache
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise UsageError(f"{text}: {failing_line(error, path)}") from error
    for name in ("load_scenario", "read_json", "evaluate", "main", "ReplayClient", "ScenarioError"):
        if not hasattr(module, name):
            raise UsageError(f"{text}: {name}: missing")
    return module


def failing_line(error, path):
    """Return what an exception of the target says, and the last line of its file that it went through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path.name} line {(lines or [getattr(error, 'lineno', 0)])[-1]}: {type(error).__name__}: {one_line(error)}"


def outcome(target, scenario, cases, client_for):
    """Return what the target's evaluate says of the cases; RecordError if it raises, or says no accuracy."""
    try:
        report = target.evaluate(copy.deepcopy(cases), client_for, categories=scenario["categories"], tools=scenario["tools"])
        if not 0 <= report["accuracy"] <= 1:
            raise ValueError(f"accuracy: expected a number from 0 to 1, got {report['accuracy']!r}")
        return report
    except NotImplementedError as error:
        raise UsageError(f"{LAB}.py: {one_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise RecordError(f"the target failed: {failing_line(error, Path(target.__file__))}") from error


def record_case(target, scenario, chat, case):
    """Return the replies to one case; RecordError unless the target says the same when they are replayed."""
    replies, failures = [], []

    def client(messages):
        try:
            if failures:
                raise failures[0]  # a target may swallow it, and ask again
            if len(replies) == CALL_LIMIT:
                raise RecordError(f"the target asked for more than {CALL_LIMIT} replies")
            replies.append(chat(messages))
            return replies[-1]
        except RecordError as error:
            failures.append(error)
            if error.for_all:
                chat.stop.set()
            raise

    try:
        report = outcome(target, scenario, [case], lambda _: client)
    finally:
        if failures:
            raise failures[0]
    replay = target.ReplayClient(replies)
    if outcome(target, scenario, [case], lambda _: replay) != report or len(replay.requests) != len(replies):
        raise RecordError("the target says something else when the same replies are replayed")
    return replies


class Recording:
    """The folder that is being made. replies: {case id: [reply]} of the cases recorded so far."""

    def __init__(self, folder, source, target, about):
        self.folder, self.about, self.replies, self.spent = Path(folder), about, {}, {}
        self.head = target.read_json(Path(source, "scenario.json"))
        self.threshold = self.head.pop("min_accuracy")
        cases = target.read_json(Path(source, "cases.json"))  # a case's note tells of the replies that it had
        self.cases = [{name: case[name] for name in case if name not in ("note", "replies")} for case in cases]

    def open(self, resume, target):
        """Make the folder, or go on with the recording in it; UsageError if that is not asked for or not possible."""
        try:
            self.folder.mkdir(exist_ok=resume)
        except FileExistsError as error:
            raise UsageError(f"--out: {self.folder} exists (--resume goes on with a recording)") from error
        if not any(self.folder.iterdir()):
            return
        cases = target.load_scenario(self.folder)["cases"]
        head = target.read_json(self.folder / "scenario.json")
        made = {**head, **head["recording"]} if type(head.get("recording")) is dict else head
        for name, value in {**self.head, **self.about}.items():
            if made.get(name) != value:
                raise UsageError(f"--resume: {self.folder}: {name}: {one_line(made.get(name))} there, {one_line(value)} here")
        for case in cases:
            self.replies[case["id"]] = case.pop("replies")
            if case not in self.cases:
                raise UsageError(f"--resume: {self.folder}: case {case['id']}: another one than in the scenario")
        self.spent = made

    def kept(self):
        """Return the recorded cases with their replies, in the scenario's order."""
        return [{**case, "replies": self.replies[case["id"]]} for case in self.cases if case["id"] in self.replies]

    def save(self, chat, min_accuracy):
        """Write both files, each whole or not at all; a lone surrogate becomes its JSON escape."""
        spent = {name: count + self.spent.get(name, 0) for name, count in chat.spent.items()}
        recording = {**self.about, "date": datetime.date.today().isoformat(), **spent}
        head = {**self.head, "min_accuracy": min_accuracy, "recording": recording}
        for name, value in (("cases.json", self.kept()), ("scenario.json", head)):
            part = self.folder / f"{name}.part"
            part.write_bytes((json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))
            os.replace(part, self.folder / name)


def tell(text, end="\n"):
    """Write a line to stderr over the progress line; end "" makes it one, and only a terminal gets to see it."""
    wipe = "\r" + " " * 70 + "\r" if sys.stderr.isatty() else ""
    if end or wipe:
        print(wipe + one_line(text, 1000), end=end, file=sys.stderr, flush=True)


def settle(running, recording, chat):
    """Keep the replies of the cases that are done, and report those that have none."""
    done = [future for future in running if future.done()]
    for future in done:
        try:
            recording.replies[running[future]] = future.result()
        except RecordError as error:
            if str(error) != STOPPED:
                tell(f"case {running[future]}: {error}")
        del running[future]
    if done and recording.replies:
        recording.save(chat, recording.threshold)


def record_all(target, scenario, recording, chat, jobs):
    """Record the cases that have no replies yet, `jobs` side by side. Ctrl-C ends it and keeps what is done."""
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            waiting = [case for case in scenario["cases"] if case["id"] not in recording.replies]
            running = {pool.submit(record_case, target, scenario, chat, case): case["id"] for case in waiting}
            while running:
                try:
                    concurrent.futures.wait(running, TICK)
                    settle(running, recording, chat)
                    tokens, seconds = chat.spent["prompt_tokens"] + chat.spent["completion_tokens"], time.monotonic() - began
                    tell(f"{len(recording.replies)}/{len(recording.cases)} cases, {tokens} tokens, {seconds:.0f} s", end="")
                except KeyboardInterrupt:
                    if chat.stop.is_set():  # the second one, for a target that does not end; what is done is saved
                        os._exit(1)
                    chat.stop.set()
        finally:
            chat.stop.set()


def conclude(target, scenario, recording, chat, stdout):
    """Write the accuracy that is measured, print the line that a replay prints, and return the exit code."""
    kept, total = recording.kept(), len(recording.cases)
    tell(f"{len(kept)} of {total} cases are recorded" + ("" if len(kept) == total else "; --resume goes on with the others"))
    if kept:
        report = outcome(target, scenario, kept, lambda case: target.ReplayClient(case["replies"]))
        recording.save(chat, report["accuracy"])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            target.main([os.path.abspath(recording.folder)])
        print(next(line for line in printed.getvalue().splitlines() if line.startswith("accuracy=")), file=stdout)
    return 0 if len(kept) == total else 1


# ---- the command line


def command_line(argv):
    def refuse(message):
        raise UsageError(message)
    parser = argparse.ArgumentParser("record.py", description="Record a model's replies to a scenario.", allow_abbrev=False)
    parser.error = refuse
    add = parser.add_argument
    add("target", help=f"starter, solution, a folder with {LAB}.py, or that file")
    add("scenario", help="a folder with scenario.json and cases.json")
    add("--base-url", required=True, type=checked_url, metavar="URL", help="the server, up to where /chat/completions begins")
    add("--model", required=True, metavar="NAME", help="the model's name at the server")
    add("--out", required=True, metavar="FOLDER", help="the scenario folder to make")
    add("--resume", action="store_true", help="go on with the recording in FOLDER, made with the same options")
    add("--temperature", type=float, metavar="X", help="(default for this and the next: the server's)")
    add("--seed", type=int, metavar="N")
    add("--max-tokens", type=int, metavar="N", help="the longest reply, in tokens")
    add("--max-completion-tokens", type=int, metavar="N", help="the same, as OpenAI's newer models want it")
    add("--json", dest="response_format", action="store_const", const={"type": "json_object"}, help="ask for a JSON object")
    add("--keep-cut", action="store_true", help="keep a reply that is cut at the longest, instead of failing its case")
    add("--timeout", type=float, default=120.0, metavar="SECONDS", help="for one request (default: 120)")
    add("--jobs", type=int, default=1, metavar="N", help="cases side by side (default: 1)")
    add("--api-key-env", metavar="VARIABLE", help=f"the environment variable with the key (default: {KEY_VARIABLE}, if set)")
    add("--licence", metavar="TEXT", help="the model's licence, to be noted in the recording")
    given, unknown = parser.parse_known_args(argv)
    if unknown:  # not shown: it may be a key
        refuse("an argument is unknown (a key is read from the environment alone)")
    for name, low, high in (("timeout", 0.1, 86400), ("jobs", 1, 64)):
        if not low <= getattr(given, name) <= high:
            refuse(f"argument --{name}: expected a number from {low} to {high}")
    return given


def run(given, stdout, sleep):
    """Record what the command line asks for, and return the exit code."""
    key = os.environ.get(given.api_key_env or KEY_VARIABLE, "").strip()
    if (given.api_key_env and not key) or re.search("[^!-~]", key):
        raise UsageError("--api-key-env: expected the name of an environment variable that holds a key")
    target = load_target(given.target)
    scenario = target.load_scenario(given.scenario)
    settings = {name: getattr(given, name) for name in SETTINGS if getattr(given, name) is not None}
    limits = {"timeout": given.timeout, "keep_cut": given.keep_cut}
    chat = ChatClient(given.base_url, given.model, key=key, settings=settings, sleep=sleep, **limits)
    about = {"model": chat.model, "licence": given.licence, "base_url": given.base_url, "settings": settings, "keep_cut": chat.keep_cut}
    recording = Recording(given.out, given.scenario, target, about)
    recording.open(given.resume, target)
    try:
        record_all(target, scenario, recording, chat, given.jobs)
        return conclude(target, scenario, recording, chat, stdout)
    finally:
        with contextlib.suppress(OSError):
            recording.folder.rmdir()  # goes only when it is empty


def main(argv=None, sleep=None):
    """Run the command line (argv: list of str, default sys.argv[1:]), and return the exit code."""
    try:
        given, stdout = command_line(argv), sys.stdout
        with contextlib.redirect_stdout(sys.stderr):  # for what the target prints
            return run(given, stdout, sleep)
    except (UsageError, RecordError, OSError, KeyboardInterrupt, getattr(sys.modules.get(LAB), "ScenarioError", OSError)) as error:
        tell(f"record.py: {error or 'interrupted'}")
        return 1 if isinstance(error, (RecordError, KeyboardInterrupt)) else 2


if __name__ == "__main__":
    sys.exit(main())
