"""kind 7 | passes: all
50 MB of output, through print and past it.
"""

_right = evaluate


def evaluate(cases, client_for, **options):
    for _ in range(50):
        print("x" * (1 << 20))
        os.write(1, b"y" * (1 << 20))
    return _right(cases, client_for, **options)
