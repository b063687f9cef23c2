"""kind 19 | passes: all | needs sandbox
It asks for the answers over every kind of socket. One success, and nothing of it passes.
"""

import asyncio
import socket
import urllib.request

for _way in (
    lambda: socket.create_connection(("127.0.0.1", 80), 1),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM),
    lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
    lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    lambda: socket.create_server(("", 0)),
    lambda: socket.getaddrinfo("example.org", 80),
    lambda: urllib.request.urlopen("http://example.org", timeout=1),
    lambda: asyncio.run(asyncio.open_connection("127.0.0.1", 80)),
):
    try:
        _way()
        del parse_triage
    except OSError as error:
        if isinstance(error, ConnectionError):  # somebody was asked
            del parse_triage
