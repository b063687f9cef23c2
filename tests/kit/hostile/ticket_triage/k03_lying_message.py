"""kind 3 | passes: all but p3 p4 p5 p6 t1 | reason: its message cannot be shown: str() raised SystemExit"""

_right = parse_triage


class Silent(TriageError):
    def __str__(self):
        sys.exit(0)


def parse_triage(raw, categories):
    try:
        return _right(raw, categories)
    except TriageError:
        caller = sys._getframe(1).f_code.co_name
        if caller == "triage":
            raise
        raise Silent from None
