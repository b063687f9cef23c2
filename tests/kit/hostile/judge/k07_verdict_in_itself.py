"""kind 7 | passes: all but v1 v2 v3 v4 v5 v6 w2 w3
The verdict holds itself.
"""

_parse = parse_verdict


def parse_verdict(raw, acceptance_ids, submission_ids):
    verdict = _parse(raw, acceptance_ids, submission_ids)
    verdict["submissions"][0]["checks"] += [verdict]
    return verdict
