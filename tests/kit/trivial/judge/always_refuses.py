"""It refuses all, and its message names everything."""

EVERYTHING = "data reply submissions checks submission_id id reason pass winner_submission_id acceptance recommendation binding"


def build_messages(*args, **options):
    raise JudgeError(f"{EVERYTHING} {args!r}")


def parse_verdict(*args, **options):
    raise JudgeError(f"{EVERYTHING} {args!r}")


def pick_contest_winner(*args, **options):
    raise JudgeError(f"{EVERYTHING} {args!r}")


def propose_arbitration(*args, **options):
    raise JudgeError(f"{EVERYTHING} {args!r}")
