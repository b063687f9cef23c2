"""Nobody ever wins, and the publisher is always refunded."""


def build_messages(instructions, data):
    return [{"role": "system", "content": NOTICE}, {"role": "user", "content": "<data>\n{}\n</data>"}]


def parse_verdict(*args, **options):
    return {"submissions": [], "winner_submission_id": None, "reason": "nobody"}


def pick_contest_winner(*args, **options):
    return {"winner_submission_id": None, "checks": [], "reason": "nobody"}


def propose_arbitration(*args, **options):
    return {"recommendation": "refund_publisher", "reason": "nobody", "binding": False}
