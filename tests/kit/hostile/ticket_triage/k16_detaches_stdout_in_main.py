"""kind 16 | passes: all"""

_main = main


def main(argv=None):
    sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding="utf-8")
    try:
        return _main(argv)
    finally:
        sys.stdout.flush()
