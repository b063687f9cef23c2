"""kind 5 | passes: all but e1 e2 c1 | reason: a line before it was asked
The second answer is for a call that has not been made.
"""

import __main__

_send = __main__.Worker.send


def send_twice(self, kind, **content):
    _send(self, kind, **content)
    if kind == "raised" or (kind == "returned" and type(content["value"]) is dict and "total" in str(content["value"])):
        _send(self, kind, **content)


def evaluate(*args, **kwargs):
    __main__.Worker.send = send_twice
    return {"total": 1}
