"""kind 7 | passes: all but e1 e2 c1 | reason: its process sent what the protocol does not allow"""

def evaluate(cases, client_for, **options):
    import __main__

    __main__.Worker.send = lambda self, kind, **content: os.write(self.lines_out.fileno(), b'{"kind": ' + b"[" * 60_000 + b"\n")
