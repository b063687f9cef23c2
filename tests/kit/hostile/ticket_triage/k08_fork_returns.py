"""kind 8 | passes: all | needs posix
A forked child comes back into the worker: two would answer. (Not from a command line: its child prints all once more.)
"""

_right = evaluate


def evaluate(cases, client_for, **options):
    if not sys.argv[1:]:
        os.fork()
    return _right(cases, client_for, **options)
