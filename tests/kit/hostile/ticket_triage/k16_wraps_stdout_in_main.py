"""kind 16 | passes: all
As people make their output UTF-8 on Windows: a wrapper around the buffer, which goes when main is over.
"""

_main = main


def main(argv=None):
    encoding = sys.stdout.encoding
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding=encoding)
    sys.stderr = io.TextIOWrapper(sys.stderr.buffer, encoding=encoding, errors="backslashreplace", line_buffering=True)
    return _main(argv)
