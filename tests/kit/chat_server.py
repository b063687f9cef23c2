"""A server of these tests' own on 127.0.0.1 that misbehaves on demand, and what tests of its clients share."""

import contextlib
import http.server
import importlib.util
import json
import os
import socket
import sys
import threading
import traceback
import unittest
from pathlib import Path
from unittest import mock

KIT = Path(__file__).resolve().parents[2]
KEY = "sk-test-0123456789abcdef"
HELLO = [{"role": "user", "content": "hello"}]
NOW = 1_700_000_000.0


def load(name):
    """Return scenario/NAME.py as a module, and leave no bytecode beside it."""
    spec = importlib.util.spec_from_file_location(name, KIT / "scenario" / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    with mock.patch.object(sys, "dont_write_bytecode", True):
        spec.loader.exec_module(module)
    return module


chat_client = load("chat_client")


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
    handler.connection.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0" if os.name != "nt" else b"\1\0\0\0"
    )
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


class ServerTest(unittest.TestCase):
    def serve(self, *acts):
        server = Server(*acts)
        self.addCleanup(server.close)
        return server

    def client(self, server, **options):
        self.slept = []
        options = {"key": KEY, "timeout": 5, "sleep": self.slept.append, "now": lambda: NOW, **options}
        return chat_client.ChatClient(getattr(server, "url", server), "tiny", **options)

    def failure(self, client, messages=HELLO):
        """Return the error of a call, after a look at its message: one short line, printable, without the key."""
        with self.assertRaises(chat_client.RecordError) as caught:
            client(messages)
        error = caught.exception
        self.assertTrue(str(error).isprintable(), ascii(str(error)))
        self.assertLess(len(str(error)), 400)
        self.assertNotIn(KEY, "".join(traceback.format_exception(type(error), error, error.__traceback__)))
        return error
