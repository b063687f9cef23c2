"""kind 6 | passes: all but e1 e2 c1 | reason: ran longer than | limit 1 | needs posix"""

def evaluate(cases, client_for, **options):
    import signal

    os.kill(os.getpid(), signal.SIGSTOP)
