"""Asks a chat-completions server (OpenAI's API, which Ollama, llama.cpp, vLLM and others speak),
and trusts nothing it says.

    client = ChatClient("http://127.0.0.1:8080/v1", "NAME")
    client([{"role": "user", "content": "hello"}])

Only a reply that its server calls finished is returned; RecordError says why there is none. Standard library only.
"""

import contextlib
import email.utils
import http.client
import io
import ipaddress
import json
import os
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

# ---- words and limits

# servers differ in the word
FINISHED = {"stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed"}
CUT = {"length", "max_tokens", "model_length"}  # the token limit came first
INTERRUPTED = {"error", "abort", "insufficient_system_resource"}  # the server's fault: another try may help
CALLED = {"tool_calls", "function_call"}  # the server made a tool call of the text, which is then gone
PASSING_TYPES = {"rate_limit_exceeded", "rate_limit_error", "overloaded_error", "server_error", "internal_server_error"}
ANSWER_LIMIT = 4 << 20  # bytes of one answer of the server
COUNT_LIMIT = 10**12  # tokens that one answer can have cost: beyond that the number is nonsense
RETRIES = 4
WAIT_LIMIT = 60.0  # seconds before a retry, whatever Retry-After asks for
CONNECT_LIMIT = 10.0  # seconds to connect to one address
SECRET_LENGTH = 8  # a shorter key ("none", "ollama") is not a secret, and may well appear in a reply
TICK = 0.2  # seconds until a stop or a deadline is seen
STOPPED = "stopped"


class UsageError(Exception):
    """The command line, the surroundings or a folder is wrong."""


class RecordError(Exception):
    """No reply came. for_all: the next question gets none either.
    passing: another try may help, after `wait` seconds.
    """

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
    except (ValueError, RecursionError):  # not JSON; nested too deeply
        return re.sub(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]*>", " ", text[:4000]).strip() or "no text"
    for name in ("error", "message", "detail"):  # {"error": {"message": ...}}, {"error": ...}, {"detail": ...}
        if isinstance(said, dict) and said.get(name):
            said = said[name]
    return said if isinstance(said, str) else json.dumps(said)


def seconds_asked(header, now):
    """Return the seconds from now that a Retry-After header asks for, a number or an HTTP date;
    None if it is neither.
    """
    text = (header or "").strip()
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text)
    try:
        return email.utils.mktime_tz(email.utils.parsedate_tz(text)) - now
    except (TypeError, ValueError, IndexError, OverflowError):  # not a date, or one that no calendar has
        return None


# ---- the way to the server


def checked_url(text):
    """Return a base URL without its last slash;
    UsageError, which shows nothing of it (a password?), if it is not one.
    """
    if not re.fullmatch(r"(?ai)https?://([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?(/[!-~]*)?", text) or re.search(
        "[?#@]", text
    ):
        raise UsageError("--base-url: expected http:// or https://, a host and a path, without a password, ? and #")
    # "localhost." is not known to every system
    return re.sub(r"(?i)(?<=://localhost)\.(?=[:/]|$)", "", text.rstrip("/"))


def is_this_machine(host):
    """Return whether a host (a name, or an address in any of its spellings) is this machine.

    An address is this machine's when a socket can be bound to it; 0.0.0.0 and :: mean "here" to a connection.
    """
    if re.fullmatch(r"(?i)(.*\.)?localhost\.?", host):
        return True
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):  # nobody here knows the name: a proxy may
        return False
    for family, kind, _, _, address in found:
        plain = ipaddress.ip_address(address[0].partition("%")[0])
        plain = getattr(plain, "ipv4_mapped", None) or plain
        if plain.is_loopback or plain.is_unspecified:
            return True
        with contextlib.suppress(OSError), socket.socket(family, kind) as trial:
            trial.bind((address[0], 0, *address[2:]))
            return True
    return False


def proxies_for(url):
    """Return {scheme: proxy} for a URL as ProxyHandler takes it;
    UsageError names a variable whose proxy cannot be used.

    This machine is asked directly, by whatever name: a proxy's loopback is another machine's, and would get the key.
    """
    parts = urllib.parse.urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if not proxy or urllib.request.proxy_bypass(parts.netloc) or is_this_machine(parts.hostname):
        return {}
    wanted = f"{parts.scheme}_proxy"
    name = next(
        (name for name in os.environ if name.lower() == wanted and os.environ[name]), "the system's proxy settings"
    )
    if re.match(r"(?i)socks\w*:", proxy):
        raise UsageError(f"{name}: a SOCKS proxy cannot be used here: name an HTTP proxy, or unset it")
    host = r"([^/@\s]*@)?([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?"
    if not re.fullmatch(rf"(?ai)https?://{host}(/\S*)?|{host}/?", proxy):
        raise UsageError(f"{name}: expected the address of a proxy, such as http://HOST:PORT")
    return {parts.scheme: proxy}


def tls_context(url):
    """Return the context of a https URL, None for http; UsageError when SSLKEYLOGFILE names what cannot be written."""
    if not url.lower().startswith("https:"):
        return None
    try:
        return ssl.create_default_context()
    except OSError as error:
        raise UsageError(f"SSLKEYLOGFILE: {one_line(os.environ.get('SSLKEYLOGFILE'))}: {error.strerror}") from error


class Response(http.client.HTTPResponse):
    """An answer; what a server sends before it (102 Processing, 103 Early Hints) is passed over."""

    def begin(self):
        super().begin()
        while 100 < self.status < 200 and self.status != http.client.SWITCHING_PROTOCOLS:
            self.headers = None
            super().begin()


class TimedReader(io.RawIOBase):
    """Reads a socket for as long as left() gives seconds:
    a server that sends one byte per second never meets its timeout.
    """

    def __init__(self, file, sock, left):
        self.file, self.sock, self.left = file, sock, left

    def readable(self):
        return True

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

    def __init__(self, stop, context):
        super().__init__()
        self.stop, self.context = stop, context

    def http_open(self, request, kind=http.client.HTTPConnection, **options):
        ends = time.monotonic() + request.timeout

        def left():
            if self.stop.is_set():
                raise RecordError(STOPPED)
            if time.monotonic() >= ends:
                queue = "; a server that answers one at a time wants fewer --jobs"
                raise RecordError(f"no whole answer within {request.timeout:g} s (--timeout{queue})")
            return TICK

        def response(sock, *args, **more):
            answer = Response(sock, *args, **more)
            answer.fp = io.BufferedReader(TimedReader(answer.fp, sock, left))
            return answer

        def connection(host, timeout):
            made = kind(host, timeout=min(timeout, CONNECT_LIMIT), **options)
            made.response_class = response
            return made

        return self.do_open(connection, request)

    def https_open(self, request):
        return self.http_open(request, http.client.HTTPSConnection, context=self.context)

    https_request = urllib.request.HTTPHandler.http_request


# ---- what it answers


def for_any_server(message):
    """Return a message as every server takes it:
    a tool's result has no tool_call_id, so the user says it, in a fence.
    """
    if message["role"] != "tool":
        return message
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", message["content"])), default=0))
    return {"role": "user", "content": f"The tool {message['name']} returned:\n{fence}\n{message['content']}\n{fence}"}


def joined(stream):
    """Return the answer that a stream of events holds, as one that came whole: some servers stream unasked.

    ValueError for an event that is not JSON, EOFError when the stream ends before it says that it is done.
    """
    texts, whole, done = [], {}, False
    for line in stream.decode("utf-8", "replace").splitlines():
        data = line[5:].strip() if line.startswith("data:") else ""
        done = done or data == "[DONE]"
        record = json.loads(data) if data and data != "[DONE]" else None
        if type(record) is not dict:
            continue
        whole.update({name: record[name] for name in ("usage", "error") if record.get(name)})
        for choice in record.get("choices") or ():
            delta = choice.get("delta") or choice.get("message") or {}
            texts += [delta["content"]] if type(delta.get("content")) is str else []
            whole.update({name: delta[name] for name in ("tool_calls", "function_call", "refusal") if delta.get(name)})
            whole["finish_reason"] = choice.get("finish_reason") or whole.get("finish_reason")
    if not done and not whole.get("finish_reason") and not whole.get("error"):
        raise EOFError
    message = {name: whole.pop(name) for name in ("tool_calls", "function_call", "refusal") if name in whole}
    message["content"] = "".join(texts) if texts else None
    return {"choices": [{"message": message, "finish_reason": whole.pop("finish_reason", None)}], **whole}


class ChatClient:
    """A client, client(messages) -> str, that asks a chat-completions server. Threads may share one.

    base_url ends where /chat/completions begins. settings: further fields of each request, such as {"temperature": 0}.
    timeout: seconds for one request. keep_cut: a reply that was cut at the token limit is a reply too.
    sleep (seconds) and now (seconds since 1970) are there for tests. spent counts requests and tokens.
    Set `closing`, and no further request is sent; set `stop`, and every call ends. Both are a RecordError.
    """

    def __init__(
        self, base_url, model, *, key="", settings=None, timeout=120.0, keep_cut=False, sleep=None, now=time.time
    ):
        self.url = checked_url(base_url) + "/chat/completions"
        self.model, self.settings, self.timeout, self.keep_cut = model, dict(settings or {}), timeout, keep_cut
        self.spent = {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0}
        self.stop, self.closing, self._answered = threading.Event(), threading.Event(), False
        self._key, self._sleep, self._now, self._lock = key, sleep or self.closing.wait, now, threading.Lock()
        self._headers = {"Content-Type": "application/json", "User-Agent": "model-reply-labs"}
        self._headers.update({"Authorization": f"Bearer {key}"} if key else {})
        self._opener = urllib.request.OpenerDirector()  # bare: what follows redirects takes the key to another host
        for handler in (urllib.request.ProxyHandler(proxies_for(self.url)), Line(self.stop, tls_context(self.url))):
            self._opener.add_handler(handler)

    def __call__(self, messages):
        """Return the model's reply to a conversation; RecordError says why there is none."""
        question = {"model": self.model, "messages": [for_any_server(message) for message in messages], **self.settings}
        body = json.dumps(question).encode("ascii")
        for retry in range(RETRIES + 1):
            if self.stop.is_set() or self.closing.is_set():
                raise RecordError(STOPPED)
            try:
                return self._reply(*self._answer(body))
            except RecordError as error:
                if retry == RETRIES or not error.passing:
                    raise
                wait = 2.0**retry if error.wait is None else max(error.wait, 0.0)
            self._sleep(min(wait, WAIT_LIMIT))

    def _answer(self, body):
        """Send one request; return (headers, body) of an answer whose status is a success."""
        request = urllib.request.Request(self.url, data=body, headers=self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                answer = response.read(ANSWER_LIMIT + 1)
                if len(answer) > ANSWER_LIMIT:
                    raise RecordError(f"the answer has more than {ANSWER_LIMIT} bytes")
                # read(n) does not say that the end came early
                if response.length or (response.status == 200 and not answer):
                    raise http.client.IncompleteRead(answer, response.length)
        except (OSError, http.client.HTTPException, UnicodeError, OverflowError) as error:
            raise self._lost(error) from None  # it may show what the server said
        packed = response.headers.get("Content-Encoding", "identity").strip().lower()
        if packed not in ("", "identity") or answer.startswith(b"\x1f\x8b"):
            packed = "gzip" if answer.startswith(b"\x1f\x8b") else self._shown(packed)
            raise RecordError(f"{self.url}: the answer is packed ({packed}), and nobody asked for that", for_all=True)
        if not 200 <= response.status < 300:
            raise self._refusal(response.status, response.headers, answer)
        return response.headers, answer

    def _lost(self, error):
        """Return the RecordError for a connection that cannot be made, or that broke."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        # no such host or port
        never = (ConnectionRefusedError, socket.gaierror, ssl.SSLError, UnicodeError, OverflowError)
        hopeless = isinstance(reason, never) and not isinstance(reason, ssl.SSLEOFError)
        return RecordError(f"{self.url}: no answer: {self._shown(reason)}", for_all=hopeless, passing=not hopeless)

    def _refusal(self, status, headers, body):
        """Return the RecordError for an answer whose status is not a success."""
        if 300 <= status < 400:
            place = self._shown(headers.get("Location", "nowhere"))
            return RecordError(
                f"{self.url}: {status}: not followed to {place}: give the right --base-url", for_all=True
            )
        message = f"{self.url}: {status}: {self._shown(explain(body))}"
        if b"insufficient_quota" in body:  # comes as 429, but no waiting helps: OpenAI's word for an empty account
            return RecordError(message, for_all=True)
        wait = seconds_asked(headers.get("Retry-After"), self._now())
        passing = status in (408, 409, 429) or status >= 500
        return RecordError(message, for_all=401 <= status <= 405, passing=passing, wait=wait)

    def _error_inside(self, error, headers, body):
        """Return the RecordError for an error in an answer that calls itself a success, by the status that it names."""
        fields = error if type(error) is dict else {}
        named = [fields.get(name) for name in ("code", "status", "type")]
        status = next((int(value) for value in named if re.fullmatch("[3-5][0-9][0-9]", str(value)[:4])), None)
        if status is None and PASSING_TYPES.intersection(value for value in named if type(value) is str):
            status = 503
        if status is None:  # an address that serves something else says it this way too
            return RecordError(f"{self.url}: {self._shown(explain(body))}", for_all=not self._answered)
        return self._refusal(status, headers, body)

    def _parsed(self, headers, body):
        """Return the record that a good answer holds; RecordError when it is not JSON, or not whole."""
        try:
            streamed = headers.get_content_type() == "text/event-stream" or re.match(
                rb"\s*(data|event|id|retry)?:", body
            )
            record = joined(body) if streamed else json.loads(body)
        except EOFError as error:
            raise self._lost(http.client.IncompleteRead(b"")) from error
        except (ValueError, RecursionError, AttributeError, TypeError) as error:
            elsewhere = not self._answered and body.lstrip().startswith(b"<")  # a web page: the address is wrong
            shown = self._shown(explain(body))
            raise RecordError(f"{self.url}: expected JSON from the server, got {shown}", for_all=elsewhere) from error
        return record if type(record) is dict else {}

    def _reply(self, headers, body):
        """Return the reply that a good answer holds, and count its tokens."""
        record = self._parsed(headers, body)
        self._count(record.get("usage"))
        choices = record.get("choices")
        choice = choices[0] if type(choices) is list and choices else None
        error = record.get("error") or (choice.get("error") if type(choice) is dict else None)
        if error:
            raise self._error_inside(error, headers, json.dumps({"error": error}).encode("ascii"))
        if type(choice) is not dict:
            raise RecordError(f"{self.url}: choices: expected at least one, got {self._shown(explain(body))}")
        self._answered = True
        self._check_finished(choice)
        reply = choice["message"].get("content") if type(choice.get("message")) is dict else None
        if type(reply) is not str:
            raise RecordError(f"content: expected text, got {self._shown(json.dumps(choice))}")
        if len(self._key) >= SECRET_LENGTH and self._key in reply:
            raise RecordError("content: the reply repeats the API key, so it is not kept")
        return reply

    def _check_finished(self, choice):
        """Raise RecordError unless the server calls the reply finished. A missing or empty word means that it is."""
        message, reason = choice.get("message"), choice.get("finish_reason")
        word = "stop" if reason in (None, "") else reason.strip().lower() if type(reason) is str else ""
        called = type(message) is dict and (message.get("tool_calls") or message.get("function_call"))
        if word in CALLED or called:
            raise RecordError(
                "finish_reason: tool_calls: the server took the reply for a call of its own; turn its tool parser off"
            )
        if word in CUT and not self.keep_cut:
            raise RecordError(
                f"finish_reason: {word}: the reply is cut at the token limit (see --max-tokens and --keep-cut)"
            )
        if word not in FINISHED | CUT:
            shown = self._shown(json.dumps(reason))
            raise RecordError(f"finish_reason: {shown}: the reply is not finished", passing=word in INTERRUPTED)

    def _shown(self, text):
        """Return what a server said as a message may show it: without the key, should it say the key."""
        return one_line(str(text).replace(self._key, "[key]") if len(self._key) >= SECRET_LENGTH else text)

    def _count(self, usage):
        counts = {"requests": 1, **(usage if type(usage) is dict else {})}
        with self._lock:
            for name in self.spent:
                count = counts.get(name)
                self.spent[name] += count if type(count) is int and 0 <= count < COUNT_LIMIT else 0
