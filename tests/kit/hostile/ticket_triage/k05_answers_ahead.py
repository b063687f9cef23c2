"""kind 5 | passes: all but e1 e2 c1 | reason: a line before it was asked
The second answer is for a call that has not been made.
"""

frame = sys._getframe()
while "Worker" not in frame.f_globals:
    frame = frame.f_back
worker = frame.f_globals  # of the far end, in whose process this runs
_send = worker["Worker"].send


def send_twice(self, kind, *contents):
    line, self.lines_out = self.lines_out, io.BytesIO()
    _send(self, kind, *contents)
    text, self.lines_out = self.lines_out.getvalue(), line
    twice = kind == "raised" or (kind == "returned" and type(contents[0]) is dict and "total" in str(contents[0]))
    os.write(line.fileno(), text * (1 + twice))  # together: so both have come when the grader looks


def evaluate(*args, **kwargs):
    worker["Worker"].send = send_twice
    return {"total": 1}
