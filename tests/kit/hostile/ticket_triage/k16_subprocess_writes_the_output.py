"""kind 16 | passes: all
What main prints goes through a process that is given sys.stdout, and one that inherits it.
"""

import contextlib
import subprocess

_COPY = [sys.executable, "-c", "import sys; sys.stdout.buffer.write(open('/dev/stdin', 'rb').read())"]
_LOADED = [sys.executable, "-c", "print('loaded')"]
COPY = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"]
_main = main


def main(argv=None):
    said = [io.TextIOWrapper(io.BytesIO(), encoding=sys.stdout.encoding, write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
        code = _main(argv)
    out, err = (text.buffer.getvalue() for text in said)
    subprocess.run(_COPY, input=out, stdout=sys.stdout, check=True)
    subprocess.run(_COPY, input=err, stdout=sys.stderr, check=True)
    return code


subprocess.run(_LOADED, stdout=sys.stdout, stderr=sys.stderr, check=True)
subprocess.run(_LOADED, check=True)
