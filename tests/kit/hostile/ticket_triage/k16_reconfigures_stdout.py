"""kind 16 | passes: all"""

sys.stdout.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)
_main = main


def main(argv=None):
    sys.stdout.reconfigure(encoding="utf-8", write_through=True)
    sys.stderr.reconfigure(errors="replace")
    return _main(argv)
