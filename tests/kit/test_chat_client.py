"""What scenario/chat_client.py is held to, against servers that misbehave on demand."""

import email.utils
import gzip
import json
import os
import socket
import ssl
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from chat_server import HELLO, KEY, NOW, Server, ServerTest, answer, chat_client, drips, hangs_up, keeps_silent, raw, refuses
from chat_server import resets, says, with_length


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
        """A byte now and then is not an answer, in the body or in the headers; a slow answer in time is one."""
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
        waiting = chat_client.ChatClient(self.serve(refuses(429, "", Retry_After=50)).url, "tiny")
        timer = threading.Timer(0.1, waiting.closing.set)
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
        with mock.patch.object(chat_client, "ANSWER_LIMIT", len(body)):
            self.assertEqual(len(self.client(server)(HELLO)), 500)
        with mock.patch.object(chat_client, "ANSWER_LIMIT", len(body) - 1):
            self.assertIn("more than", str(self.failure(self.client(server))))
        self.assertEqual(len(server.requests), 2, "and is not asked for again")

    def test_a_key_that_the_server_says_back_is_in_no_message_and_in_no_reply(self):
        for act in (
            refuses(401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}})),
            refuses(400, f"<p>{KEY}</p>"),
            refuses(302, "", Location=f"http://127.0.0.1/{KEY}"),
            refuses(200, f"{KEY} is not JSON"),
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
            with self.subTest(url=url), self.assertRaises(chat_client.UsageError) as caught:
                chat_client.ChatClient(url, "tiny")
            self.assertIn("--base-url", str(caught.exception))
            self.assertNotIn("hunter2", str(caught.exception))
        for url in ("http://127.0.0.1:8080/v1", "https://api.example.com/v1/", "http://[::1]:80/v1", "HTTP://host", "http://a_b/c"):
            self.assertEqual(chat_client.ChatClient(url, "tiny").url, url.rstrip("/") + "/chat/completions")

    def test_a_proxy_is_not_asked_for_this_machine(self):
        """By whatever name: a proxy has a loopback of its own, and would get the key."""
        server, proxy = self.serve(says("direct")), self.serve(says("by proxy"))
        port = server.server_port
        with mock.patch.dict(os.environ, {"http_proxy": proxy.url, "no_proxy": ""}):
            for host in ("127.0.0.1", "127.1", "2130706433", "0x7f.1", "localhost", "LOCALHOST", "localhost.", "0.0.0.0"):
                with self.subTest(host=host):
                    self.assertEqual(self.client(f"http://{host}:{port}/v1", timeout=3)(HELLO), "direct")
            self.assertEqual(self.client("http://elsewhere.invalid/v1")(HELLO), "by proxy")
        self.assertEqual(len(proxy.requests), 1)
        for host in ("127.9.9.9", "127.1", "app.localhost", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::", socket.gethostname()):
            with self.subTest(host=host):
                self.assertTrue(chat_client.is_this_machine(host) or ":" in host and not socket.has_ipv6, host)
        for host in ("192.0.2.7", "2001:db8::7", "no.such.name.invalid", "128.0.0.1", "a" * 300):
            with self.subTest(host=host[:20]):
                self.assertFalse(chat_client.is_this_machine(host))

    def test_a_proxy_that_cannot_be_used_is_named_by_its_variable_and_not_shown(self):
        secret = "user:pass-word@"
        rows = [
            ("http_proxy", f"socks5://{secret}proxy:1080", "SOCKS"),
            ("HTTP_PROXY", f"SOCKS5H://{secret}proxy:1080", "SOCKS"),
            ("http_proxy", "socks4a:proxy", "SOCKS"),
            ("http_proxy", f"htp://{secret}proxy:8080", "expected"),
            ("http_proxy", "http//proxy:8080", "expected"),
            ("http_proxy", "http:/proxy:8080", "expected"),
            ("http_proxy", "http://proxy:port", "expected"),
            ("http_proxy", "http://my proxy:8080", "expected"),
            ("https_proxy", "ftp://proxy:21", "expected"),
        ]
        for name, value, said in rows:
            scheme = name.lower().partition("_")[0]
            with self.subTest(value=value), mock.patch.dict(os.environ):
                for other in [other for other in os.environ if other.lower() in ("http_proxy", "https_proxy", "no_proxy", "request_method")]:
                    del os.environ[other]
                os.environ[name] = value
                with self.assertRaises(chat_client.UsageError) as caught:
                    self.client(f"{scheme}://elsewhere.invalid/v1")
                self.assertTrue(str(caught.exception).startswith(f"{name}: "), caught.exception)
                self.assertIn(said, str(caught.exception))
                self.assertNotIn("pass-word", str(caught.exception))

    @unittest.skipUnless(hasattr(ssl.SSLContext, "keylog_filename"), "this Python's ssl does not write keys")
    def test_a_key_log_that_cannot_be_written_is_one_message(self):
        with mock.patch.dict(os.environ, {"SSLKEYLOGFILE": str(Path(__file__).parent / "no folder" / "keys")}):
            with self.assertRaisesRegex(chat_client.UsageError, "^SSLKEYLOGFILE: .*no folder"):
                self.client("https://127.0.0.1:1/v1")
            self.client("http://127.0.0.1:1/v1")  # it has no keys to log

    def test_only_a_reply_that_its_server_calls_finished_is_one(self):
        """Servers differ in the word for it; a missing or an empty one means that it is finished."""
        for word in ("stop", "STOP", " stop ", "eos", "eos_token", "stop_sequence", "end_turn", "COMPLETE", "", None):
            with self.subTest(word=word):
                self.assertEqual(self.client(self.serve(says("done", word)))(HELLO), "done")
        good = json.loads(answer("done"))
        del good["choices"][0]["finish_reason"]
        self.assertEqual(self.client(self.serve(refuses(200, json.dumps(good))))(HELLO), "done")
        for word in ("length", "LENGTH", "MAX_TOKENS", "max_tokens", "model_length"):
            with self.subTest(word=word):
                self.assertIn("cut", str(self.failure(self.client(self.serve(says("cut sho", word))))))
                self.assertEqual(self.client(self.serve(says("cut sho", word)), keep_cut=True)(HELLO), "cut sho")
        for word in ("content_filter", "SAFETY", "RECITATION", "repetition", "unheard_of", "finish_reason_unspecified", 7, True, ["stop"]):
            with self.subTest(word=word):
                server = self.serve(says("half a rep", word))
                self.assertIn("finish_reason", str(self.failure(self.client(server, keep_cut=True))))
                self.assertEqual(len(server.requests), 1)
        for word in ("error", "abort", "insufficient_system_resource"):
            with self.subTest(word=word):
                self.assertEqual(self.client(self.serve(says("half a rep", word), says("done")))(HELLO), "done", "tried again")

    def test_a_reply_that_the_server_took_for_a_tool_call_is_gone_whatever_is_left_of_it(self):
        calls = {"tool_calls": [{"id": "1", "type": "function"}]}
        for content in (None, "", "Let me look."):
            for reason, fields in (("tool_calls", calls), ("tool_calls", {}), ("stop", calls), ("function_call", {"function_call": {}})):
                with self.subTest(content=content, reason=reason, fields=fields):
                    server = self.serve(says(content, reason, **fields))
                    self.assertIn("tool_calls", str(self.failure(self.client(server))))
                    self.assertEqual(len(server.requests), 1)
        self.assertEqual(self.client(self.serve(says("text", "stop", tool_calls=[])))(HELLO), "text")

    def test_an_error_inside_a_good_status_counts_as_what_it_names(self):
        for status in (408, 429, 500, 503):
            for inside in ({"code": status, "message": "busy"}, {"code": str(status)}, {"status": status}, {"type": "overloaded_error"}):
                with self.subTest(inside=inside):
                    body = json.dumps({"error": inside})
                    self.assertEqual(self.client(self.serve(refuses(200, body), says("at last")))(HELLO), "at last")
        choice = {"choices": [{"message": {"content": "half"}, "finish_reason": "error", "error": {"code": 502, "message": "gone"}}]}
        self.assertEqual(self.client(self.serve(refuses(200, json.dumps(choice)), says("at last")))(HELLO), "at last")
        for inside, for_all in (({"code": 400, "message": "no"}, False), ({"code": 401, "message": "no"}, True), ("Unexpected endpoint", True)):
            with self.subTest(inside=inside):
                server = self.serve(refuses(200, json.dumps({"error": inside})))
                error = self.failure(self.client(server))
                self.assertEqual((len(server.requests), error.for_all, error.passing), (1, for_all, False))
                self.assertIn(f"{server.url}/chat/completions", str(error))
        server = self.serve(says("x"), refuses(200, '{"error": "this prompt is not allowed"}'))
        client = self.client(server)
        self.assertEqual(client(HELLO), "x")
        self.assertFalse(self.failure(client).for_all, "the address is right: another question may be answered")
        server = self.serve(refuses(200, '{"error": {"code": 429}}', Retry_After=7), says("x"))
        self.assertEqual((self.client(server)(HELLO), self.slept), ("x", [7.0]))

    def test_an_address_that_serves_something_else_is_asked_once_and_shown(self):
        for act in (refuses(404, "not found"), refuses(405), refuses(200, "<!doctype html><title>Welcome</title>")):
            server = self.serve(act)
            error = self.failure(self.client(server.url.rpartition("/v1")[0]))
            self.assertEqual((len(server.requests), error.for_all), (1, True))
            self.assertIn(f"{server.url.rpartition('/v1')[0]}/chat/completions", str(error))

    def test_what_comes_before_an_answer_is_passed_over(self):
        for early in ("103 Early Hints\r\nLink: </x>; rel=preload", "102 Processing", "100 Continue"):
            with self.subTest(early):
                before = f"HTTP/1.1 {early}\r\n\r\n".encode()
                server = self.serve(lambda handler, before=before: (raw(before * 3)(handler), says("x")(handler)))
                self.assertEqual(self.client(server)(HELLO), "x")
        server = self.serve(raw(b"HTTP/1.1 103 Early Hints\r\n\r\n"), says("x"))
        self.assertEqual(self.client(server)(HELLO), "x", "a connection that ends there is tried again")

    def test_packed_answers_are_named(self):
        packed = gzip.compress(answer("x").encode())
        for act in (refuses(200, packed, Content_Encoding="gzip"), refuses(200, packed), refuses(500, packed, Content_Encoding="GZIP")):
            error = self.failure(self.client(self.serve(act)))
            self.assertIn("gzip", str(error))
        self.assertIn("br", str(self.failure(self.client(self.serve(refuses(200, b"\x0b\x02", Content_Encoding="br"))))))
        self.assertEqual(self.client(self.serve(refuses(200, answer("x"), Content_Encoding="identity")))(HELLO), "x")

    def test_a_stream_that_nobody_asked_for_is_joined(self):
        def stream(*records, done=True, kind="text/event-stream"):
            lines = [f"data: {json.dumps(record)}\n\n" for record in records] + ["data: [DONE]\n\n"] * done
            return refuses(200, ": hello\n\n" + "".join(lines), Content_Type=kind)

        def piece(text, reason=None, **delta):
            return {"choices": [{"delta": {"content": text, **delta}, "finish_reason": reason}]}

        usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
        for kind in ("text/event-stream", "text/event-stream; charset=utf-8", "application/json"):
            client = self.client(self.serve(stream(piece("Hel"), piece("lo \ud83d"), piece(None, "stop"), usage, kind=kind)))
            self.assertEqual(client(HELLO), "Hello \ud83d")
            self.assertEqual(client.spent, {"requests": 1, "prompt_tokens": 5, "completion_tokens": 2})
        self.assertEqual(self.client(self.serve(stream(piece("a"), done=True)))(HELLO), "a")
        self.assertIn("cut", str(self.failure(self.client(self.serve(stream(piece("a"), piece("", "length")))))))
        self.assertIn("tool_calls", str(self.failure(self.client(self.serve(stream(piece(None, "stop", tool_calls=[{"index": 0}])))))))
        broken = self.serve(stream(piece("a"), done=False), stream(piece("whole"), piece("", "stop")))
        self.assertEqual(self.client(broken)(HELLO), "whole", "one that ends early is tried again")
        late = self.serve(stream(piece("a"), {"error": {"code": 503, "message": "gone"}}, done=False), says("x"))
        self.assertEqual(self.client(late)(HELLO), "x")
        for body in ("data: {\n\n", "data: 7\n\ndata: [DONE]\n\n", 'data: {"choices": [7]}\n\n'):
            self.failure(self.client(self.serve(refuses(200, body, Content_Type="text/event-stream"))))

    def test_counts_that_cannot_be_are_not_counted(self):
        for count in ("9" * 4300, "9" * 4301, "1" + "0" * 20, "-5", "true", '"7"', "1.5"):
            with self.subTest(count=count[:10]):
                body = answer("x").replace('"prompt_tokens": 7', f'"prompt_tokens": {count}')
                client = self.client(self.serve(refuses(200, body)))
                if len(count) > 4300:  # more digits than Python converts: the whole answer cannot be read
                    self.failure(client)
                else:
                    self.assertEqual(client(HELLO), "x")
                self.assertEqual(client.spent["prompt_tokens"], 0)
                self.assertTrue(str(client.spent))

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


if __name__ == "__main__":
    unittest.main()
