"""kind 16 | passes: all"""

import contextlib

_main = main


def main(argv=None):
    said = io.TextIOWrapper(io.BytesIO(), encoding=sys.stdout.encoding, write_through=True)
    with contextlib.redirect_stdout(said):
        code = _main(argv)
    os.write(1, said.buffer.getvalue())
    return code
