"""kind 11 | passes: all but w2 w3 e1
It asks nobody whom it has asked the same before.
"""

REMEMBERED = {}
_pick = pick_contest_winner


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    def remembering(messages):
        key = json.dumps(messages)
        if key not in REMEMBERED:
            REMEMBERED[key] = client(messages)
        return REMEMBERED[key]

    return _pick(task, acceptance, submissions, remembering, both_orders=both_orders)
