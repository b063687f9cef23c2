"""kind 5 | passes: all but e1 e2 c1 | reason: a line before it was asked
The second answer is for a call that has not been made.
"""

import __main__

_send = __main__.Worker.send


def send_twice(self, kind, **content):
    line, self.lines_out = self.lines_out, io.BytesIO()
    _send(self, kind, **content)
    text, self.lines_out = self.lines_out.getvalue(), line
    twice = kind == "raised" or (kind == "returned" and type(content["value"]) is dict and "total" in str(content["value"]))
    os.write(line.fileno(), text * (1 + twice))  # together: so both have come when the grader looks


def evaluate(*args, **kwargs):
    __main__.Worker.send = send_twice
    return {"total": 1}
