"""kind 16 | passes: all
The errors of main go through a logger, which is set up in its first run and keeps the stream of that.
"""

import contextlib
import logging

_main = main


def main(argv=None):
    logging.basicConfig(format="%(message)s")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        code = _main(argv)
    for line in said.getvalue().splitlines():
        logging.error(line)
    return code
