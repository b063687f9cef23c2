"""kind 16 | passes: all
Names, descriptors and buffers of the streams, at import, in a function and in main.
"""


def look():
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        assert (stream.fileno(), stream.name) == (number, f"<{name}>"), stream
        assert not stream.isatty() and not stream.closed and stream is getattr(sys, f"__{name}__")
        os.fstat(stream.fileno())
    assert sys.stdout.buffer.raw.fileno() == 1 and sys.stdout.writable() and sys.stdin.readable()
    sys.stdout.flush()
    print("printed", file=sys.stderr)
    sys.stderr.buffer.write(b"bytes")
    sys.stderr.buffer.flush()


look()
_right = evaluate


def evaluate(cases, client_for, **options):
    look()
    return _right(cases, client_for, **options)


_main = main


def main(argv=None):
    assert sys.stdout.fileno() == 1 and sys.stdout.name == "<stdout>" and sys.stderr.fileno() == 2
    assert sys.argv[1:] == argv
    return _main(argv)
