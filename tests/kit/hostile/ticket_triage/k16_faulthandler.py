"""kind 16 | passes: all"""

import faulthandler

faulthandler.enable()
_main = main


def main(argv=None):
    faulthandler.enable(file=sys.stderr)
    try:
        return _main(argv)
    finally:
        faulthandler.disable()
