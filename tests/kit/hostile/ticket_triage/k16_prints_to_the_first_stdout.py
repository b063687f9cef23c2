"""kind 16 | passes: all
main prints to sys.__stdout__, as a program does that redirects sys.stdout for a library.
"""

import contextlib

_main = main
print("loaded", file=sys.__stdout__)


def main(argv=None):
    said = io.TextIOWrapper(io.BytesIO(), encoding=sys.stdout.encoding, write_through=True)
    with contextlib.redirect_stdout(said):
        code = _main(argv)
    print(said.buffer.getvalue().decode(sys.stdout.encoding), end="", file=sys.__stdout__)
    os.write(1, b"")
    return code
