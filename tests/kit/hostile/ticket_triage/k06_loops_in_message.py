"""kind 6 | passes: all but e1 e2 c1 | reason: ran longer than | limit 1"""

class Endless(Exception):
    def __str__(self):
        while True:
            pass


def evaluate(cases, client_for, **options):
    raise Endless
