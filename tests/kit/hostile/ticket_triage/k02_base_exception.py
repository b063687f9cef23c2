"""kind 2 | passes: all but e1 e2 c1 | reason: Quiet: nothing to see"""

class Quiet(BaseException):
    """No Exception: a runner that catches those does not see it."""


def evaluate(cases, client_for, **options):
    raise Quiet("nothing to see")
