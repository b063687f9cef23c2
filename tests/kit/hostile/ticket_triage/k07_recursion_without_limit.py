"""kind 7 | passes: all but e1 e2 c1 | reason:  | limit 1 | needs linux
The interpreter crashes, or the memory or the time ends first.
"""

def evaluate(cases, client_for, **options):
    sys.setrecursionlimit(10**9)
    return deeper([])


def deeper(inner):
    return [deeper([inner])] + sorted([1], key=lambda _: deeper(inner))
