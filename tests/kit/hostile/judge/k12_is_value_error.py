"""kind 12 | passes: all but b1 b2 v1 v2 v3 v4 v5 v6 w1 w2 w3 a1 a2 e1 | reason: is not the exception that was handed out
Its refusals are of a class that Python raises too.
"""

JudgeError = ValueError


def parse_verdict(raw, acceptance_ids, submission_ids):
    return json.loads(raw)
