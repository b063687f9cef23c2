"""kind 3 | passes: all but p1 p2 p3 p4 p5 p6 | reason: 3.0"""

_right = parse_triage


def parse_triage(raw, categories):
    answer = _right(raw, categories)
    return {**answer, "priority": float(answer["priority"]), "needs_human": int(answer["needs_human"])}
