"""kind 5 | passes: all but e1 e2 c1 | reason: a line of more than 1,048,576 bytes"""

def evaluate(*args, **kwargs):
    while True:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"9" * 65536)
            except OSError:
                continue
