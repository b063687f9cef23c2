"""kind 6 | passes: all but e1 e2 c1 | reason: ran longer than | limit 1"""

def evaluate(*args, **kwargs):
    import time

    time.sleep(1e6)
