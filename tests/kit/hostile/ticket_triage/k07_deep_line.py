"""kind 7 | passes: all but e1 e2 c1 | reason: its process sent what the protocol does not allow"""

frame = sys._getframe()
while "Worker" not in frame.f_globals:
    frame = frame.f_back
worker = frame.f_globals  # of the far end, in whose process this runs


def evaluate(cases, client_for, **options):
    worker["Worker"].send = lambda self, *contents: os.write(self.lines_out.fileno(), b'{"kind": ' + b"[" * 60_000 + b"\n")
