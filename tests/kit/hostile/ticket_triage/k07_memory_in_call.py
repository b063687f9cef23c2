"""kind 7 | passes: all but e1 e2 c1 | reason: MemoryError | needs linux"""

def evaluate(cases, client_for, **options):
    eaten = []
    while True:
        eaten.append(bytearray(1 << 24))
