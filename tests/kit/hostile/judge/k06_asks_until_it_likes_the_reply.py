"""kind 6 | passes: all but w1 w2 w3 e1 | reason: it ran longer than | limit 2
It asks again for ever, whatever the client does.
"""

_pick, _propose = pick_contest_winner, propose_arbitration


def again(function, *args, **options):
    while True:
        try:
            return function(*args, **options)
        except Exception:
            continue


def pick_contest_winner(*args, **options):
    return again(_pick, *args, **options)
