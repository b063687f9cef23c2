"""What scenario/record.py is held to, against a server of these tests' own on 127.0.0.1 that misbehaves on demand.

Run it: python tests/kit/test_record.py, or python -m unittest discover -s tests/kit -t tests/kit
"""

import _thread
import contextlib
import email.utils
import http.server
import importlib.util
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
from pathlib import Path
from unittest import mock

KIT = Path(__file__).resolve().parents[2]
KEY = "sk-test-0123456789abcdef"
HELLO = [{"role": "user", "content": "hello"}]
NOW = 1_700_000_000.0


def load_record():
    """Return scenario/record.py as a module, and leave no bytecode beside it."""
    spec = importlib.util.spec_from_file_location("record", KIT / "scenario" / "record.py")
    module = importlib.util.module_from_spec(spec)
    with mock.patch.object(sys, "dont_write_bytecode", True):
        spec.loader.exec_module(module)
    return module


record = load_record()


# ---- the server


class Handler(http.server.BaseHTTPRequestHandler):
    """Gives each request to the next act of the server's list; the last one stays."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            number = len(self.server.requests)
            self.seen = {"path": self.path, "headers": dict(self.headers), "body": json.loads(body)}
            self.server.requests.append(self.seen)
        act = self.server.acts[min(number, len(self.server.acts) - 1)]
        with contextlib.suppress(OSError):  # the client has left
            act(self)

    def do_GET(self):  # what urllib makes of a POST that is redirected
        self.server.requests.append({"path": self.path, "headers": dict(self.headers), "body": None})

    def log_message(self, *args):
        pass

    def send(self, status, body, **headers):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    """A server on loopback. acts: functions of a Handler; requests: what came."""

    daemon_threads = False  # so that closing waits for them, and none is left

    def __init__(self, *acts):
        super().__init__(("127.0.0.1", 0), Handler)
        self.acts, self.requests, self.lock, self.closing = acts, [], threading.Lock(), threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self):
        self.closing.set()
        self.shutdown()
        self.thread.join()
        self.server_close()

    def handle_error(self, request, client_address):
        pass


def answer(content, reason="stop", **message):
    """Return the JSON of a good answer with this content."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": reason}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})


def says(content, reason="stop", **message):
    return lambda handler: handler.send(200, answer(content, reason, **message))


def refuses(status, body="", **headers):
    return lambda handler: handler.send(status, body, **headers)


def raw(data):
    """Send bytes as they are, and close."""
    return lambda handler: handler.wfile.write(data)


def hangs_up(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)


def resets(handler):
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0" if os.name != "nt" else b"\1\0\0\0")
    handler.connection.close()


def keeps_silent(handler):
    handler.server.closing.wait(10)


def drips(data):
    """Send a byte every 50 ms, each in time for a timeout that is for one read."""

    def act(handler):
        for byte in data:
            handler.wfile.write(bytes([byte]))
            if handler.server.closing.wait(0.05):
                return

    return act


def with_length(body, length):
    return f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}".encode()


# ---- the client


class ServerTest(unittest.TestCase):
    def serve(self, *acts):
        server = Server(*acts)
        self.addCleanup(server.close)
        return server

    def client(self, server, **options):
        self.slept = []
        options = {"key": KEY, "timeout": 5, "sleep": self.slept.append, "now": lambda: NOW, **options}
        return record.ChatClient(getattr(server, "url", server), "tiny", **options)

    def failure(self, client, messages=HELLO):
        """Return the error of a call, after a look at its message: one short line, printable, without the key."""
        with self.assertRaises(record.RecordError) as caught:
            client(messages)
        error = caught.exception
        self.assertTrue(str(error).isprintable(), ascii(str(error)))
        self.assertLess(len(str(error)), 400)
        self.assertNotIn(KEY, "".join(traceback.format_exception(type(error), error, error.__traceback__)))
        return error


class ChatClientTest(ServerTest):
    def test_asks_as_the_api_wants_it_and_returns_the_content_as_it_came(self):
        """The request holds model, messages and the settings that are given, and no more."""
        for settings in ({}, {"temperature": 0.0, "seed": 4, "response_format": {"type": "json_object"}}):
            for content in ("", " \n```json\n{}\n``` ", "\ud800 \u202e \x00 é"):
                with self.subTest(settings=settings, content=content):
                    server = self.serve(says(content))
                    self.assertEqual(self.client(server, settings=settings)(HELLO), content)
                    (request,) = server.requests
                    self.assertEqual(request["path"], "/v1/chat/completions")
                    self.assertEqual(request["body"], {"model": "tiny", "messages": HELLO, **settings})
                    self.assertEqual(request["headers"]["Content-Type"], "application/json")

    def test_the_key_is_sent_as_a_bearer_token_and_only_when_there_is_one(self):
        for key, expected in ((KEY, f"Bearer {KEY}"), ("", None)):
            server = self.serve(says("x"))
            self.client(server, key=key)(HELLO)
            self.assertEqual(server.requests[0]["headers"].get("Authorization"), expected)

    def test_a_tool_message_is_sent_as_a_user_message_with_the_result_in_a_fence_that_it_cannot_close(self):
        server = self.serve(says("x"))
        messages = [
            {"role": "system", "content": "s"},
            {"role": "tool", "name": "track", "content": '{"days": 3}'},
            {"role": "tool", "name": "read", "content": '"```\\n````"'},
        ]
        kept = json.loads(json.dumps(messages))
        self.client(server)(messages)
        first, plain, ticks = server.requests[0]["body"]["messages"]
        self.assertEqual(messages, kept, "the caller's own list is left alone")
        self.assertEqual(first, messages[0])
        self.assertEqual((set(plain), plain["role"]), ({"role", "content"}, "user"))
        self.assertIn('track returned:\n```\n{"days": 3}\n```', plain["content"])
        self.assertIn('read returned:\n`````\n"```\\n````"\n`````', ticks["content"])

    def test_no_redirect_is_followed_so_the_key_goes_to_no_other_host(self):
        for status in (301, 302, 303, 307, 308):
            with self.subTest(status=status):
                other = self.serve(says("stolen"))
                server = self.serve(refuses(status, "", Location=f"{other.url}/chat/completions?{KEY}"))
                error = self.failure(self.client(server))
                self.assertEqual((len(server.requests), other.requests, error.for_all), (1, [], True))
                self.assertIn(str(status), str(error))
                self.assertIn(other.url, str(error))

    def test_what_may_pass_is_tried_again_and_the_rest_is_not(self):
        """408, 409, 429 and 5xx are tried again after a second; no other refusal is."""
        for status in (408, 409, 429, 500, 502, 503, 504, 529):
            with self.subTest(status=status):
                server = self.serve(refuses(status), says("at last"))
                self.assertEqual(self.client(server)(HELLO), "at last")
                self.assertEqual((len(server.requests), self.slept), (2, [1.0]))
        for status, for_all in ((400, False), (401, True), (403, True), (404, True), (413, False), (422, False)):
            with self.subTest(status=status):
                server = self.serve(refuses(status), says("never"))
                error = self.failure(self.client(server))
                self.assertEqual((len(server.requests), self.slept, error.for_all), (1, [], for_all))
                self.assertIn(str(status), str(error))

    def test_tries_are_finite_and_waits_double(self):
        server = self.serve(refuses(503, "busy"))
        self.assertIn("503: busy", str(self.failure(self.client(server))))
        self.assertEqual((len(server.requests), self.slept), (5, [1.0, 2.0, 4.0, 8.0]))

    def test_retry_after_is_read_as_seconds_or_as_a_date_and_capped(self):
        date = lambda seconds: email.utils.formatdate(NOW + seconds, usegmt=True)
        rows = [
            ("7", 7.0, "seconds"),
            ("0", 0.0, "now"),
            ("86400", 60.0, "longer than anyone waits"),
            ("9" * 5000, 1.0, "more digits than Python converts"),
            (date(30), 30.0, "a date"),
            (date(-30), 0.0, "a date that is over"),
            (date(10**6), 60.0, "a date far away"),
            (time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(NOW + 30)), 30.0, "a date of RFC 850"),
            (time.asctime(time.gmtime(NOW + 30)), 30.0, "a date of C, which names no zone"),
            ("Fri, 99 Foo 2023 99:99:99 GMT", 1.0, "no date"),
            ("soon", 1.0, "no number"),
            ("-5", 1.0, "no number of seconds"),
            ("nan", 1.0, "a float that compares with nothing"),
            ("", 1.0, "nothing"),
        ]
        if hasattr(time, "tzset"):  # a date is in GMT wherever this runs
            self.addCleanup(time.tzset)
            patcher = mock.patch.dict(os.environ, {"TZ": "JST-9"})
            patcher.start()
            self.addCleanup(patcher.stop)
            time.tzset()
        for header, wait, because in rows:
            with self.subTest(header=header[:40], because=because):
                server = self.serve(refuses(429, "slow down", Retry_After=header), says("ok"))
                self.assertEqual(self.client(server)(HELLO), "ok")
                self.assertEqual(self.slept, [wait])

    def test_an_empty_account_is_not_asked_again_and_ends_the_run(self):
        """OpenAI names it in type, in code, or in both."""
        for error in ({"type": "insufficient_quota", "code": "project_spend_limit_exceeded"}, {"code": "insufficient_quota"}):
            with self.subTest(error=error):
                body = json.dumps({"error": {"message": "You exceeded your current quota", **error}})
                server = self.serve(refuses(429, body), says("never"))
                failure = self.failure(self.client(server))
                self.assertEqual((len(server.requests), failure.for_all), (1, True))
                self.assertIn("429: You exceeded your current quota", str(failure))

    def test_a_connection_that_breaks_is_tried_again(self):
        half = answer("whole")[:40]
        rows = {
            "no answer": hangs_up,
            "a reset": resets,
            "half a body": raw(with_length(half, 400)),
            "half a chunk": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nabc"),
            "no body": refuses(200, ""),
            "half a header": raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
            "no HTTP": raw(b"220 mail ready\r\n"),
        }
        for name, act in rows.items():
            with self.subTest(name):
                server = self.serve(act, says("whole"))
                self.assertEqual(self.client(server)(HELLO), "whole")
                self.assertEqual((len(server.requests), self.slept), (2, [1.0]))

    def test_where_nobody_listens_is_said_at_once(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        for address in (url, "http://127.0.0.1:99999/v1", "http://a..invalid/v1"):
            with self.subTest(address):
                error = self.failure(self.client(address))
                self.assertEqual((self.slept, error.for_all), ([], True))
                self.assertIn(address, str(error))

    def test_the_timeout_is_for_the_whole_request_and_leaves_no_thread_behind(self):
        """A byte now and then is no answer, in the body or in the headers; a slow answer in time is one."""
        head = b"HTTP/1.1 200 OK\r\n\r\n"
        for name, act in {
            "silent": keeps_silent,
            "headers drip": drips(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400),
            "body drips": lambda handler: (raw(head)(handler), drips(b"x" * 400)(handler)),
            "an error's body drips": lambda handler: (raw(b"HTTP/1.1 500 No\r\n\r\n")(handler), drips(b"x" * 400)(handler)),
        }.items():
            with self.subTest(name):
                threads = threading.active_count()
                server = Server(act)
                began = time.monotonic()
                try:
                    error = self.failure(self.client(server, timeout=0.3))
                finally:
                    server.close()
                self.assertLess(time.monotonic() - began, 5)
                self.assertEqual((len(server.requests), threading.active_count()), (1, threads))
                self.assertIn("within 0.3 s", str(error))
        slow = lambda handler: (handler.server.closing.wait(0.3), says("in time")(handler))
        self.assertEqual(self.client(self.serve(slow), timeout=5)(HELLO), "in time")

    def test_a_stop_ends_a_call_that_waits(self):
        client = self.client(self.serve(keeps_silent), timeout=30)
        timer = threading.Timer(0.1, client.stop.set)
        timer.start()
        began = time.monotonic()
        self.failure(client)
        timer.join()
        self.assertLess(time.monotonic() - began, 8)
        client.stop.clear()
        waiting = record.ChatClient(self.serve(refuses(429, "", Retry_After=50)).url, "tiny")
        timer = threading.Timer(0.1, waiting.stop.set)
        timer.start()
        self.failure(waiting)
        timer.join()
        self.assertLess(time.monotonic() - began, 16)

    def test_error_bodies_are_shown_short_and_on_one_line(self):
        html = "<html><head><title>502 Bad</title><style>p{color:red}</style></head><p>No\n\n gateway</p><script>alert(1)</script>"
        rows = [
            ('{"error": {"message": "no\\nmodel \\u001b[31mred", "type": "x", "code": null}}', "no model \\x1b[31mred"),
            ('{"error": "model \'x\' not found"}', "model 'x' not found"),
            ('{"object": "error", "message": "too long", "code": 40303}', "too long"),
            ('{"detail": [{"loc": ["body", "seed"], "msg": "no int"}]}', '"msg": "no int"'),
            ('[{"error": 1}]', '[{"error": 1}]'),
            ("null", "null"),
            ("plain \u202etext\r\nand more", "plain \\u202etext and more"),
            (html, "502 Bad No gateway"),
            (b"\xff\xfe\x00", "\ufffd\ufffd\\x00"),
            ("[" * 100_000, "[[["),
            ("x" * 100_000, "xxx..."),
            ('{"error": {"message": "%s"}}' % ("y" * 5000), "yyy..."),
            ("", "no text"),
        ]
        for body, shown in rows:
            with self.subTest(body=body[:40]):
                error = str(self.failure(self.client(self.serve(refuses(400, body)))))
                self.assertIn(shown, error)
                self.assertIn("400", error)
                self.assertNotIn("alert", error)

    def test_an_answer_without_a_reply_is_refused_and_says_what_it_lacks(self):
        """Each is asked for once only: the same question gets the same answer."""
        good = json.loads(answer("x"))
        rows = [
            ("{}", "choices"),
            ('{"choices": []}', "choices"),
            ('{"choices": null}', "choices"),
            ('{"choices": {"0": 1}}', "choices"),
            ('{"choices": ["text"]}', "choices"),
            ('{"error": {"message": "upstream is down"}}', "upstream is down"),
            (answer(None), "content"),
            (answer(None, "tool_calls", tool_calls=[{"id": "1"}]), "tool_calls"),
            (answer(None, refusal="I will not"), "I will not"),
            (answer([{"type": "text", "text": "x"}]), "content"),
            (answer(3), "content"),
            ('{"choices": [{"finish_reason": "stop"}]}', "content"),
            ('{"choices": [{"message": "x", "finish_reason": "stop"}]}', "content"),
            (answer("cut sho", "length"), "finish_reason: length"),
            ("[1]", "choices"),
            ("not JSON \x07", "not JSON \\x07"),
            ("[" * 100_000, "JSON"),
            (json.dumps(good)[:-1], "JSON"),
        ]
        for body, named in rows:
            with self.subTest(body=body[:60]):
                server = self.serve(refuses(200, body))
                self.assertIn(named, str(self.failure(self.client(server))))
                self.assertEqual(len(server.requests), 1)
        self.assertEqual(self.client(self.serve(refuses(200, json.dumps(good))))(HELLO), "x")
        self.assertEqual(self.client(self.serve(says("cut sho", "length")), keep_cut=True)(HELLO), "cut sho")

    def test_an_answer_has_a_size_limit(self):
        body = answer("x" * 500)
        server = self.serve(refuses(200, body))
        with mock.patch.object(record, "ANSWER_LIMIT", len(body)):
            self.assertEqual(len(self.client(server)(HELLO)), 500)
        with mock.patch.object(record, "ANSWER_LIMIT", len(body) - 1):
            self.assertIn("more than", str(self.failure(self.client(server))))
        self.assertEqual(len(server.requests), 2, "and is not asked for again")

    def test_a_key_that_the_server_says_back_is_in_no_message_and_in_no_reply(self):
        for act in (
            refuses(401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}})),
            refuses(400, f"<p>{KEY}</p>"),
            refuses(302, "", Location=f"http://127.0.0.1/{KEY}"),
            refuses(200, f"{KEY} is no JSON"),
            refuses(200, json.dumps({"choices": [], "key": KEY})),
            raw(f"{KEY}\r\n".encode()),
            says(None, refusal=KEY),
            says(f"Your key is {KEY}."),
        ):
            self.failure(self.client(self.serve(act)))  # looks for the key itself
        client = self.client(self.serve(says("none of it")))
        self.assertNotIn(KEY, repr(client) + str(client))
        self.assertEqual(client(HELLO), "none of it")
        self.assertEqual(self.client(self.serve(says("none of it")), key="none")(HELLO), "none of it")

    def test_a_base_url_is_checked_and_never_shown_when_it_is_wrong(self):
        for url in (
            "ftp://host/v1", "file:///etc/passwd", "host:8080/v1", "http://", "http:///v1", "", "http://host:port/v1",
            "http://user:hunter2@host/v1", "http://hunter2@host/v1", "http://host/v1?key=hunter2", "http://host/v1#hunter2",
            "http://host/a b", "http://host/\r\nX: hunter2", "http://höst/v1", "http://[::1/v1", "javascript:hunter2",
        ):  # fmt: skip
            with self.subTest(url=url), self.assertRaises(record.UsageError) as caught:
                record.ChatClient(url, "tiny")
            self.assertIn("--base-url", str(caught.exception))
            self.assertNotIn("hunter2", str(caught.exception))
        for url in ("http://127.0.0.1:8080/v1", "https://api.example.com/v1/", "http://[::1]:80/v1", "HTTP://host", "http://a_b/c"):
            self.assertEqual(record.ChatClient(url, "tiny").url, url.rstrip("/") + "/chat/completions")

    def test_a_proxy_is_not_asked_for_this_machine(self):
        server = self.serve(says("direct"))
        with mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:9", "no_proxy": ""}):
            self.assertEqual(self.client(server)(HELLO), "direct")
        proxy = self.serve(says("by proxy"))
        with mock.patch.dict(os.environ, {"http_proxy": proxy.url, "no_proxy": ""}):
            self.assertEqual(self.client("http://elsewhere.invalid/v1")(HELLO), "by proxy")

    def test_requests_and_tokens_are_counted_from_several_threads(self):
        strange = json.loads(answer("x"))
        strange["usage"] = {"prompt_tokens": "many", "completion_tokens": True}
        server = self.serve(*[says("x")] * 8, refuses(200, json.dumps(strange)))
        client = self.client(server)
        threads = [threading.Thread(target=client, args=(HELLO,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(client.spent, {"requests": 8, "prompt_tokens": 56, "completion_tokens": 24})
        self.assertEqual(client(HELLO), "x")
        self.assertEqual(client.spent, {"requests": 9, "prompt_tokens": 56, "completion_tokens": 24})


# ---- the command

CATEGORIES = ["billing", "delivery"]
CASES = [
    {"id": "cup", "ticket": "The cup is broken.", "expected": {"category": "delivery", "needs_human": True}},
    {"id": "late", "ticket": "Where is TT-1?", "expected": {"category": "delivery", "needs_human": False}},
    {"id": "paid-zwölf", "ticket": "Paid twice.", "expected": {"category": "billing", "needs_human": True}},
    {"id": "odd", "ticket": "Hm \u2028 ?", "expected": {"category": "billing", "needs_human": False}},
]
SCENARIO = {
    "name": "A small shop",
    "categories": CATEGORIES,
    "min_accuracy": 0.9,
    "tools": {"track": {"parameters": {"order": "str"}, "results": [], "default": {"days": 3}, "description": "Looks."}},
}
RIGHT = {"category": "delivery", "priority": 2, "summary": "A cup", "needs_human": True}
SCRIPT = {  # ticket -> replies: one right, one by way of a tool, one corrected and wrong, one never right
    CASES[0]["ticket"]: [json.dumps(RIGHT)],
    CASES[1]["ticket"]: ['{"tool": "track", "arguments": {"order": "TT-1"}}', json.dumps({**RIGHT, "needs_human": False})],
    CASES[2]["ticket"]: ["Sure! \x1b[31m", json.dumps({**RIGHT, "summary": "\u202e Zwölf"})],
    CASES[3]["ticket"]: ["\ud800 \x00", ""],
}
LINE = "accuracy=0.5 correct=2/4 fallbacks=1 min_accuracy=0.5"


def asked(request):
    """Return the ticket and the number of replies given so far, from a request."""
    messages = request["body"]["messages"]
    return json.loads(messages[1]["content"].split("\n")[1]), sum(message["role"] == "assistant" for message in messages)


def plays(handler):
    """Play SCRIPT: the server of a model that these tests know by heart."""
    ticket, turn = asked(handler.seen)
    says(SCRIPT[ticket][turn])(handler)


def fails_for(name, act):
    """Play SCRIPT, and let the case of this id meet another act."""
    ticket = next(case["ticket"] for case in CASES if case["id"] == name)
    return lambda handler: act(handler) if asked(handler.seen)[0] == ticket else plays(handler)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class CommandTest(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.scenario, self.out = self.folder / "shop", self.folder / "out"
        self.write(self.scenario, SCENARIO, CASES)
        self.patch(mock.patch.dict(os.environ, {"OPENAI_API_KEY": KEY}))
        self.patch(mock.patch.dict(sys.modules))
        self.patch(mock.patch.object(sys, "path", list(sys.path)))
        self.patch(mock.patch.object(sys, "dont_write_bytecode", True))

    def patch(self, patcher):
        patcher.start()
        self.addCleanup(patcher.stop)

    def write(self, folder, scenario, cases):
        folder.mkdir(exist_ok=True)
        cases = [{"note": "P1: what the old replies show", **case, "replies": ["old"]} for case in cases]
        (folder / "scenario.json").write_text(json.dumps(scenario), encoding="utf-8")
        (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")

    def target(self, code):
        """Return a target: the solution with code of its own at its end."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        source = (KIT / "solution" / "ticket_triage.py").read_text(encoding="utf-8")
        source = source.replace('if __name__ == "__main__":\n    sys.exit(main())', "")
        (folder / "ticket_triage.py").write_text(f"{source}\n{code}\n", encoding="utf-8")
        return folder

    def record(self, server, *options, target="solution", stderr=None):
        """Run the command; return (exit code, stdout, stderr)."""
        url = getattr(server, "url", server)
        argv = [str(target), str(self.scenario), "--base-url", url, "--model", "tiny", "--out", str(self.out), *options]
        self.slept = []
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(stderr or io.StringIO()) as err:
            code = record.main(argv, sleep=self.slept.append)
        self.assertNotIn(KEY, out.getvalue() + err.getvalue())
        self.assertNotIn("Traceback", err.getvalue())
        for path in self.out.rglob("*"):
            self.assertNotIn(KEY.encode(), path.read_bytes())
        return code, out.getvalue(), err.getvalue()

    def replay(self, target=KIT / "solution"):
        """Return (exit code, lines of stdout, stderr) of the lab's own command on the recording."""
        argv = [sys.executable, "-B", str(target / "ticket_triage.py"), str(self.out)]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
        return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()

    def recorded(self):
        """Return scenario.json and cases.json of the recording."""
        return [json.loads((self.out / name).read_text(encoding="utf-8")) for name in ("scenario.json", "cases.json")]

    def files(self):
        return {path.name: path.read_bytes() for path in self.out.iterdir()} if self.out.exists() else None


class RecordTest(CommandTest):
    def test_a_recording_replays_to_the_line_that_was_printed(self):
        """Tools, corrections, fallbacks, control characters and a lone surrogate included; min_accuracy is what was measured."""
        code, out, err = self.record(self.serve(plays))
        self.assertEqual((code, out), (0, LINE + "\n"))
        self.assertEqual(err, "4 of 4 cases are recorded\n")
        code, lines, err = self.replay()
        self.assertEqual((code, lines[0], err), (0, LINE, ""))
        self.assertEqual([line.split(":")[0] for line in lines[1:]], ["paid-zw\u00f6lf", "odd"])
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])

    def test_scenario_json_says_how_it_was_recorded(self):
        settings = ["--temperature", "0", "--max-tokens", "200", "--seed", "3", "--json", "--licence", "MIT"]
        server = self.serve(plays)
        self.assertEqual(self.record(server, *settings)[0], 0)
        scenario, _ = self.recorded()
        made = scenario.pop("recording")
        self.assertEqual(scenario, {**SCENARIO, "min_accuracy": 0.5})
        self.assertRegex(made.pop("date"), r"^\d{4}-\d\d-\d\d$")
        sent = {"temperature": 0, "max_tokens": 200, "seed": 3, "response_format": {"type": "json_object"}}
        spent = {"requests": 7, "prompt_tokens": 49, "completion_tokens": 21}
        how = {"model": "tiny", "licence": "MIT", "base_url": server.url, "settings": sent, "keep_cut": False}
        self.assertEqual(made, {**how, **spent})
        for request in server.requests:
            self.assertEqual({name: request["body"][name] for name in sent}, sent)

    def test_a_target_is_a_name_of_the_kit_a_folder_or_a_file(self):
        folder = self.target("BESIDE = __import__('beside').NAME")
        (folder / "beside.py").write_text("NAME = 1", encoding="utf-8")
        for target in ("solution", folder, folder / "ticket_triage.py"):
            with self.subTest(target=str(target)):
                self.out = Path(tempfile.mkdtemp(dir=self.folder)) / "out"
                self.assertEqual(self.record(self.serve(plays), target=target)[:2], (0, LINE + "\n"))
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["beside.py", "ticket_triage.py"])

    def test_a_target_may_do_with_a_case_what_it_likes(self):
        target = self.target(
            "_real = evaluate\n"
            "def evaluate(cases, *a, **k):\n"
            "    try:\n"
            "        return _real(cases, *a, **k)\n"
            "    finally:\n"
            "        [case.clear() for case in cases]"
        )
        self.assertEqual(self.record(self.serve(plays), target=target)[:2], (0, LINE + "\n"))
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])

    def test_what_a_target_prints_is_not_mixed_with_the_line(self):
        target = self.target(
            "print('imported')\n"
            "_real = evaluate\n"
            "def evaluate(*a, **k):\n"
            "    print('looking')\n"
            "    return _real(*a, **k)"
        )
        code, out, err = self.record(self.serve(plays), target=target)
        self.assertEqual((code, out), (0, LINE + "\n"))
        self.assertIn("looking", err)

    def test_a_wrong_command_line_is_one_line_and_nothing_is_made(self):
        """Exit code 2; nothing is asked of the server, and what may be a key is not shown."""
        server = self.serve(plays)
        broken, unfinished, strange = self.target("def ("), self.target("raise SystemExit(3)"), self.folder / "strange"
        strange.mkdir()
        (strange / "ticket_triage.py").write_text("x = 1", encoding="utf-8")
        half = self.folder / "half"
        self.write(half, SCENARIO, [{**CASES[0], "expected": {"category": "lost", "needs_human": True}}])
        stub = self.target("def evaluate(*a, **k):\n    raise NotImplementedError('write evaluate')")
        for row, because in (
            ({"server": "ftp://127.0.0.1/v1"}, "no web address"),
            ({"server": f"http://{KEY}@127.0.0.1/v1"}, "a password in the address"),
            ({"options": ["--api-key", KEY]}, "a key on the command line"),
            ({"options": [f"--api-key={KEY}"]}, "a key on the command line"),
            ({"options": [KEY]}, "a key on the command line"),
            ({"options": ["--api-key-env", KEY]}, "the key, where its variable's name belongs"),
            ({"options": ["--api-key-env", "NO_SUCH_VARIABLE"]}, "no such variable"),
            ({"options": ["--jobs", "0"]}, "no job"),
            ({"options": ["--timeout", "nan"]}, "a timeout that never ends"),
            ({"options": ["--temperature", "warm\n"]}, "no number"),
            ({"options": ["--out", str(self.folder / "no" / "such" / "folder")]}, "no folder to make it in"),
            ({"options": ["--out", str(self.scenario)]}, "it exists"),
            ({"target": self.folder / "nowhere"}, "no target"),
            ({"target": self.folder}, "a folder without the lab's file"),
            ({"target": broken}, "a syntax error"),
            ({"target": unfinished}, "it exits when it is imported"),
            ({"target": strange}, "another program"),
            ({"target": stub}, "evaluate is not written yet"),
        ):
            with self.subTest(because):
                row = {"server": server, "options": [], **row}
                code, out, err = self.record(row["server"], *row["options"], target=row.get("target", "solution"))
                self.assertEqual((code, out, err.count("\n"), server.requests, self.files()), (2, "", 1, [], None), err)
                self.assertTrue(err.startswith("record.py: "), err)
        for scenario in (half, self.folder / "nowhere"):
            self.scenario = scenario
            code, out, err = self.record(server)
            self.assertEqual((code, out, err.count("\n"), server.requests), (2, "", 1, []), err)

    def test_a_key_with_a_line_end_is_trimmed_and_one_with_odd_characters_is_refused_unseen(self):
        server = self.serve(plays)
        with mock.patch.dict(os.environ, {"MY_KEY": f"{KEY}\n"}):
            self.assertEqual(self.record(server, "--api-key-env", "MY_KEY")[0], 0)
        self.assertEqual(server.requests[0]["headers"]["Authorization"], f"Bearer {KEY}")
        for key in (f"{KEY}\nX: 1", f"{KEY} {KEY}", f"{KEY}é"):
            with mock.patch.dict(os.environ, {"MY_KEY": key}):
                self.out = self.folder / "other"
                code, _, err = self.record(server, "--api-key-env", "MY_KEY")
                self.assertEqual((code, err.count("\n")), (2, 1))

    def test_a_case_whose_server_fails_is_named_and_left_out_and_resume_asks_for_it_alone(self):
        server = self.serve(fails_for("late", refuses(400, "context\x1b too long")))
        code, out, err = self.record(server)
        self.assertEqual((code, out), (1, "accuracy=0.333 correct=1/3 fallbacks=1 min_accuracy=0.333\n"))
        first, last = err.splitlines()
        self.assertTrue(first.startswith("case late: ") and "400: context\\x1b too long" in first, first)
        self.assertIn("3 of 4", last)
        self.assertEqual(self.replay()[1][0], out.strip())
        self.assertEqual([case["id"] for case in self.recorded()[1]], ["cup", "paid-zw\u00f6lf", "odd"])
        server.acts, before = (plays,), len(server.requests)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))
        self.assertEqual({asked(request)[0] for request in server.requests[before:]}, {"Where is TT-1?"})
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])
        self.assertEqual(self.recorded()[0]["recording"]["requests"], len(server.requests) - 1, "all but the refused one")
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"), "with nothing left to do")

    def test_a_server_that_refuses_everybody_is_asked_once_and_no_folder_stays(self):
        server = self.serve(refuses(401, '{"error": {"message": "Incorrect API key"}}'))
        code, out, err = self.record(server)
        self.assertEqual((code, out, len(server.requests), self.files()), (1, "", 1, None))
        self.assertEqual(len(err.splitlines()), 2)
        self.assertIn("case cup: ", err)
        self.assertIn("401: Incorrect API key", err)
        self.assertIn("0 of 4", err)

    def test_an_existing_folder_is_refused_and_left_as_it_is(self):
        server = self.serve(plays)
        self.out.mkdir()
        code, out, err = self.record(server)
        self.assertEqual((code, out, err.count("\n"), server.requests, self.files()), (2, "", 1, [], {}))
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"), "an empty one holds nothing to lose")
        before = self.files()
        self.assertEqual(self.record(server)[0], 2)
        self.assertEqual(self.files(), before)
        (self.folder / "file").write_text("x", encoding="utf-8")
        self.out = self.folder / "file"
        self.assertEqual((self.record(server, "--resume")[0], self.out.read_text(encoding="utf-8")), (2, "x"))

    def test_resume_refuses_what_was_recorded_in_another_way(self):
        server = self.serve(fails_for("late", refuses(400)))
        options = ["--temperature", "0.5", "--seed", "3"]
        self.assertEqual(self.record(server, *options)[0], 1)
        before, asked_before = self.files(), len(server.requests)
        for row, named in (
            (["--temperature", "0.5"], "settings"),
            (["--temperature", "0.7", "--seed", "3"], "settings"),
            ([*options, "--json"], "settings"),
            ([*options, "--model", "other"], "model"),
            ([*options, "--keep-cut"], "keep_cut"),
            ([*options, "--base-url", "http://127.0.0.1:1/v1"], "base_url"),
        ):
            with self.subTest(row=row):
                code, out, err = self.record(server, "--resume", *row)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1))
                self.assertIn(f" {named}: ", err)
        for scenario, cases, named in (
            ({**SCENARIO, "categories": [*CATEGORIES, "other"]}, CASES, "categories"),
            ({**SCENARIO, "tools": {}}, CASES, "tools"),
            (SCENARIO, [{**CASES[0], "ticket": "another"}, *CASES[1:]], "case cup"),
            (SCENARIO, CASES[1:], "case cup"),
        ):
            with self.subTest(named):
                self.write(self.scenario, scenario, cases)
                code, out, err = self.record(server, "--resume", *options)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1))
                self.assertIn(named, err)
        self.write(self.scenario, SCENARIO, CASES)
        self.assertEqual((self.files(), len(server.requests)), (before, asked_before))
        for name, value in (("recording", None), ("recording", [1]), ("min_accuracy", "high")):
            scenario = json.loads(before["scenario.json"])
            (self.out / "scenario.json").write_text(json.dumps({**scenario, name: value}), encoding="utf-8")
            self.assertEqual(self.record(server, "--resume", *options)[0], 2)
        (self.out / "scenario.json").write_bytes(before["scenario.json"])
        server.acts = (plays,)
        self.assertEqual(self.record(server, "--resume", "--timeout", "9", "--jobs", "2", *options)[0], 0)

    def test_ctrl_c_keeps_what_is_done_and_resume_goes_on(self):
        def interrupts(handler):
            _thread.interrupt_main()
            keeps_silent(handler)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts without it
        self.addCleanup(signal.signal, signal.SIGINT, before)
        server = self.serve(fails_for("paid-zw\u00f6lf", interrupts))
        began = time.monotonic()
        code, out, err = self.record(server, "--timeout", "60")
        self.assertLess(time.monotonic() - began, 8)
        self.assertEqual((code, out), (1, "accuracy=1.0 correct=2/2 fallbacks=0 min_accuracy=1.0\n"))
        self.assertEqual([case["id"] for case in self.recorded()[1]], ["cup", "late"])
        self.assertEqual(len(err.splitlines()), 1)
        self.assertIn("2 of 4", err)
        self.assertEqual(self.replay()[1], [out.strip()])
        server.acts = (plays,)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))

    def test_jobs_run_side_by_side_and_the_file_keeps_the_scenario_s_order(self):
        """Four requests meet at a barrier, and the first case ends last."""
        barrier, others = threading.Barrier(4), threading.Semaphore(0)

        def meets(handler):
            ticket, turn = asked(handler.seen)
            if turn == 0:
                barrier.wait(5)
            if ticket == CASES[0]["ticket"]:
                for _ in range(6):
                    others.acquire(timeout=5)
            plays(handler)
            others.release()

        self.assertEqual(self.record(self.serve(meets), "--jobs", "4")[:2], (0, LINE + "\n"))
        self.assertEqual(self.recorded()[1], [{**case, "replies": SCRIPT[case["ticket"]]} for case in CASES])

    def test_a_failure_that_the_target_swallows_is_still_no_reply(self):
        swallowing = self.target(
            "_triage = triage\n"
            "def triage(ticket_text, client, **options):\n"
            "    for _ in range(3):\n"
            "        try:\n"
            "            return _triage(ticket_text, client, **options)\n"
            "        except BaseException:\n"
            "            pass\n"
            "    return {'category': 'delivery', 'needs_human': False, 'fallback': False}"
        )
        server = self.serve(fails_for("late", refuses(400, "no")))
        code, out, err = self.record(server, target=swallowing)
        self.assertEqual((code, [case["id"] for case in self.recorded()[1]]), (1, ["cup", "paid-zw\u00f6lf", "odd"]))
        self.assertIn("case late: ", err)
        self.assertEqual(sum(asked(request)[0] == "Where is TT-1?" for request in server.requests), 1, "it is not asked again")

    def test_a_target_that_fails_costs_the_case_and_is_shown_with_its_line(self):
        """The third asks until it is stopped; the last takes another number of replies when they are replayed."""
        ask = "client(build_messages(ticket_text, []))"
        rows = {
            "raises": ("raise KeyError('priority\\x1b')", "ticket_triage.py line "),
            "exits": ("raise SystemExit('bye')", "SystemExit: bye"),
            "asks for ever": (f"while True: {ask}", "more than 20 replies"),
            "asks once more": (f"{ask}; SEEN.append(1); SEEN[1:] or {ask}; SEEN[1:] = []", "replayed"),
            "decides otherwise": (f"{ask}; SEEN.append(1)", "replayed"),
        }
        for name, (line, shown) in rows.items():
            with self.subTest(name):
                self.out = self.folder / name.replace(" ", "-")
                target = self.target(
                    "SEEN = []\n_triage = triage\n"
                    "def triage(ticket_text, client, **options):\n"
                    "    if 'TT-1' in ticket_text:\n"
                    f"        {line}\n"
                    "        return {'fallback': False, 'category': len(SEEN), 'needs_human': 0}\n"
                    "    return _triage(ticket_text, client, **options)"
                )
                server = self.serve(fails_for("late", says("again")))
                code, out, err = self.record(server, target=target)
                self.assertEqual((code, [case["id"] for case in self.recorded()[1]]), (1, ["cup", "paid-zw\u00f6lf", "odd"]), err)
                self.assertEqual(len(err.splitlines()), 2, err)
                self.assertTrue(err.startswith("case late: "), err)
                self.assertIn(shown, err)
                self.assertLessEqual(len(server.requests), 1 + 20 + 2 + 2)

    def test_an_evaluate_that_reports_no_accuracy_records_nothing(self):
        for code in ("return None", "return {'accuracy': 87.5}", "return {'accuracy': 'high'}"):
            with self.subTest(code):
                result = self.record(self.serve(plays), target=self.target(f"def evaluate(*a, **k):\n    {code}"))
                self.assertEqual((result[:2], self.files()), ((1, ""), None))

    def test_progress_is_shown_to_a_terminal_alone(self):
        code, out, err = self.record(self.serve(plays), stderr=Terminal())
        self.assertIn("4/4 cases, 70 tokens, 0 s", err)
        self.assertEqual(code, 0)
        self.out = self.folder / "quiet"
        self.assertEqual(self.record(self.serve(plays))[2], "4 of 4 cases are recorded\n")

    def test_files_are_written_whole_or_not_at_all(self):
        server = self.serve(fails_for("late", refuses(400)))
        self.assertEqual(self.record(server)[0], 1)
        before = self.files()
        server.acts = (plays,)
        for owner, name in ((Path, "write_bytes"), (record.os, "replace")):
            with self.subTest(name), mock.patch.object(owner, name, side_effect=OSError(28, "No space left on device")):
                code, out, err = self.record(server, "--resume")
            self.assertEqual((code, out, err.count("\n")), (2, "", 1))
            self.assertIn("No space left", err)
            self.assertEqual({name: self.files()[name] for name in before}, before)
        self.assertEqual(self.record(server, "--resume")[:2], (0, LINE + "\n"))
        self.assertEqual(sorted(self.files()), ["cases.json", "scenario.json"])

    def test_the_shipped_recording_replays_to_what_it_says(self):
        """scenario/ticket_triage_smollm2: the shipped tickets, no path of a machine, and the accuracy that was measured."""
        self.out = KIT / "scenario" / "ticket_triage_smollm2"
        scenario, cases = self.recorded()
        code, lines, err = self.replay()
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(lines[0].startswith(f"accuracy={scenario['min_accuracy']} correct="), lines[0])
        tickets = json.loads((KIT / "scenario" / "ticket_triage" / "cases.json").read_text(encoding="utf-8"))
        self.assertEqual([(case["id"], case["ticket"]) for case in cases], [(case["id"], case["ticket"]) for case in tickets])
        self.assertLessEqual({"model", "licence", "date", "settings"}, set(scenario["recording"]))
        self.assertNotRegex(json.dumps(scenario), "/home/|/root/|/tmp/|/work/|[A-Z]:\\\\")


if __name__ == "__main__":
    unittest.main()
