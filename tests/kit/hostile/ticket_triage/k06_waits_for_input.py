"""kind 6 | passes: all but e1 e2 c1 | reason: EOFError"""

sys.stdin.read()
os.read(0, 10)


def evaluate(cases, client_for, **options):
    return input("accuracy? ")
