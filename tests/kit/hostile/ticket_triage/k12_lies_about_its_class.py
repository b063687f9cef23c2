"""kind 12 | passes: all but p1 p2 p3 p4 p5 p6 t1"""

_parse = parse_triage


class Lies(ValueError):
    __class__ = TriageError


def parse_triage(raw, categories):
    try:
        return _parse(raw, categories)
    except TriageError as error:
        raise Lies(str(error)) from None
