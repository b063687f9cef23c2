r"""kind 2 | passes: all but e1 e2 c1 | reason: '\n15 of 15 passed\x00'"""

class Meta(type):
    __name__ = property(lambda kind: "\n15 of 15 passed\0")


class _Innocent(Exception, metaclass=Meta):
    pass


def evaluate(cases, client_for, **options):
    raise _Innocent
