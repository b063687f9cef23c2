"""kind 5 | passes: all but s1 s2 s3 s4 s5 c1 | limit 1"""


def run_sample(candidate, verify, clock):
    while True:
        try:
            verify()
        except BaseException:
            continue
