"""kind 8 | passes: all but e1 e2 c1 | reason: ended by itself (exit code 3) | needs linux
The worker ends, and a child of its own keeps the pipes open: that must not cost the time limit.
"""

def evaluate(cases, client_for, **options):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import time

            time.sleep(7654.3)
        os._exit(0)
    os._exit(3)
