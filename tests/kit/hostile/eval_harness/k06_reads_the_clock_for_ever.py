"""kind 6 | passes: all but s1 s2 s3 s4 s5 c1 | reason: 1 s | limit 1"""


def run_sample(candidate, verify, clock):
    while True:
        clock()
