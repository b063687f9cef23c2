"""A small language of shapes: a shape is data, and one function checks any value against it."""

CHECK = {"id": "id", "reason": "text", "pass": "bool"}
VERDICT_SHAPE = {"submissions": [{"submission_id": "id", "checks": [CHECK]}], "winner_submission_id": "any", "reason": "text"}
OPINION_SHAPE = {"recommendation": "any", "reason": "text"}


class Twice(Exception):
    pass


def pairs_once(pairs):
    found = {}
    for key, value in pairs:
        if found.setdefault(key, value) is not value or list(found).count(key) != 1:
            raise Twice(key)
    if len(found) != len(pairs):
        raise Twice(next(key for number, (key, _) in enumerate(pairs) if key in [other for other, _ in pairs[:number]]))
    return found


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def decoded(raw):
    try:
        value = json.loads(raw.strip(), object_pairs_hook=pairs_once, parse_constant=refuse_constant)
    except Twice as twice:
        raise JudgeError(f"{twice} occurs twice") from twice
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise JudgeError("the reply is not one JSON object") from error
    if not isinstance(value, dict) or isinstance(raw, bytes):
        raise JudgeError("the reply is not one JSON object")
    return value


def shaped(value, shape, name):
    """Return a copy of value that has the shape; JudgeError names the key where it does not."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise JudgeError(f"{name} is not a list of objects")
        odd = [key for key in shape if key not in value] or [key for key in value if key not in shape]
        if odd:
            raise JudgeError(f"{odd[0]} is missing or not known, in {name}")
        return {key: shaped(value[key], shape[key], key) for key in shape}
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise JudgeError(f"{name} is not a list of objects")
        return [shaped(item, shape[0], name) for item in value]
    if shape == "any":
        return value
    if shape == "bool" and type(value) is bool:
        return value
    if shape == "id" and isinstance(value, str):
        return value
    if shape == "text" and isinstance(value, str) and value.strip():
        return value.strip()
    raise JudgeError(f"{name} has a wrong value: {show(value)}")


def in_order(records, key, ids):
    by_id = {record[key]: record for record in records}
    if len(by_id) < len(records):
        given = [record[key] for record in records]
        raise JudgeError(f"{', '.join(name for name in by_id if given.count(name) > 1)}: more than once")
    if by_id.keys() != set(ids):
        raise JudgeError(f"{', '.join(by_id.keys() ^ set(ids))}: missing, or not known")
    return [by_id[name] for name in ids]


def build_messages(instructions, data):
    pieces = []
    try:
        for piece in json.JSONEncoder(allow_nan=False, indent=1).iterencode(data):
            pieces.append(piece.replace(">", "\\u003e").replace("<", "\\u003c"))
    except (TypeError, ValueError, RecursionError) as error:
        raise JudgeError(f"data: {error}") from None
    user = "\n".join(["<data>", "".join(pieces), "</data>"])
    return [{"content": "\n".join([instructions, NOTICE]), "role": "system"}, {"content": user, "role": "user"}]


def parse_verdict(raw, acceptance_ids, submission_ids):
    verdict = shaped(decoded(raw), VERDICT_SHAPE, "verdict")
    for entry in verdict["submissions"]:
        entry["checks"] = in_order(entry["checks"], "id", acceptance_ids)
    verdict["submissions"] = in_order(verdict["submissions"], "submission_id", submission_ids)
    qualified = {entry["submission_id"] for entry in verdict["submissions"] if not [0 for check in entry["checks"] if not check["pass"]]}
    winner = verdict["winner_submission_id"]
    if not (winner in qualified if isinstance(winner, str) else winner is None and not qualified):
        raise JudgeError(f"winner_submission_id: {show(winner)} is not proven by the checks")
    return verdict


def ids_of(records, name):
    ids = [record["id"] for record in records]
    if any(record_id.isspace() or not record_id for record_id in ids):
        raise JudgeError(f"{name}: a blank id")
    if len(set(ids)) < len(ids):
        raise JudgeError(f"{name}: {[record_id for record_id in ids if ids.count(record_id) > 1]} more than once")
    return ids


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    item_ids = ids_of(acceptance, "acceptance")
    submission_ids = ids_of(submissions, "submissions")
    if not item_ids:
        raise JudgeError("acceptance is empty")
    if not submission_ids:
        return {"winner_submission_id": None, "checks": [], "reason": "Nobody came."}
    orders = [list(submissions)] + ([list(reversed(submissions))] if both_orders else [])
    first = None
    for order in orders:
        data = {"acceptance": acceptance, "submissions": order, "task": {"spec": task["spec"], "title": task["title"]}}
        verdict = parse_verdict(client(build_messages(INSTRUCTIONS["contest"], data)), item_ids, submission_ids)
        first = first or verdict
        if verdict["winner_submission_id"] != first["winner_submission_id"]:
            raise JudgeError(f"two winners: {first['winner_submission_id']}, {verdict['winner_submission_id']}")
    winner = first["winner_submission_id"]
    checks = [] if winner is None else first["submissions"][submission_ids.index(winner)]["checks"]
    return {"checks": checks, "reason": first["reason"], "winner_submission_id": winner}


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    if len(submissions) == 0:
        raise JudgeError("submissions: none")
    earlier = list(submissions)
    latest = earlier.pop()
    data = dict(latest=latest, earlier=earlier, acceptance=acceptance, reviews=reviews, comments=comments)
    data["task"] = {"title": task["title"], "spec": task["spec"]}
    opinion = shaped(decoded(client(build_messages(INSTRUCTIONS["dispute"], data))), OPINION_SHAPE, "opinion")
    if opinion["recommendation"] not in ["pay_taker", "refund_publisher"]:
        raise JudgeError(f"recommendation: {show(opinion['recommendation'])}")
    opinion["binding"] = False
    return opinion
