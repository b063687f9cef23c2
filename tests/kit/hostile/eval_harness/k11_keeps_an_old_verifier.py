"""kind 11 | passes: all but s1 s2 s3 s4 s5 c1 | reason: this function came with an earlier call"""

_KEPT = []


def run_sample(candidate, verify, clock):
    _KEPT.append((candidate, verify, clock))
    candidate, verify, clock = _KEPT[0]
    started = clock()
    claim = candidate()
    latency_ms = round((clock() - started) * 1000, 3)
    passed, detail = verify()
    return {"status": "pass" if passed else "fail", "detail": detail, "latency_ms": latency_ms, **claim}
