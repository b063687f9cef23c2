"""kind 1 | passes: all but e1 e2 c1 | reason: ended by itself (signal 6) | needs posix"""

def evaluate(*args, **kwargs):
    os.abort()
