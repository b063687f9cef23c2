"""kind 7 | passes: all but e1 e2 c1 | reason: Too many open files | needs posix"""

FILES = []


def evaluate(cases, client_for, **options):
    while True:
        FILES.append(open(os.devnull, encoding="utf-8"))
