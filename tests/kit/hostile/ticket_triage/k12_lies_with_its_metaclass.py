"""kind 12 | passes: all but p1 p2 p3 p4 p5 p6 t1"""

_parse = parse_triage


class Lies(type):
    def mro(cls):
        return [*type.mro(cls)[:1], *type.mro(cls)[1:]]

    @property
    def __mro__(cls):
        return (TriageError, *TriageError.__mro__)


class Refused(ValueError, metaclass=Lies):
    pass


def parse_triage(raw, categories):
    try:
        return _parse(raw, categories)
    except TriageError as error:
        raise Refused(str(error)) from None
