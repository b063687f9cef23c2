"""First the whole shape, then all ids as a multiset of pairs, then all values: a table of (submission, item) is what it works on."""

import collections
import itertools


def build_messages(instructions, data):
    try:
        text = "".join(json.JSONEncoder(allow_nan=False).iterencode(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise JudgeError(f"data: {error}")
    return [
        {"role": "system", "content": "\n".join((instructions, NOTICE))},
        {"role": "user", "content": "<data>\n" + text.replace(">", r"\u003e").replace("<", r"\u003c") + "\n</data>"},
    ]


def hook(pairs):
    counted = collections.Counter(key for key, _ in pairs)
    for key, times in counted.items():
        if times > 1:
            raise JudgeError(f"{key}: {times} times")
    return dict(pairs)


def constant(name):
    raise JudgeError(f"reply: {name}")


def decode(raw, keys):
    if not isinstance(raw, str):
        raise JudgeError("reply: not a str")
    try:
        record, end = json.JSONDecoder(object_pairs_hook=hook, parse_constant=constant).raw_decode(raw.strip())
    except (ValueError, RecursionError) as error:
        raise JudgeError(f"reply: {error}")
    if end != len(raw.strip()) or not isinstance(record, dict):
        raise JudgeError("reply: not one object")
    return same_keys(record, keys)


def same_keys(record, keys):
    difference = set(record) ^ set(keys)
    if difference:
        raise JudgeError(f"missing or extra: {sorted(difference)}")
    return record


def rows(entries, name, keys):
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise JudgeError(f"{name}: not a list of objects")
    for entry in entries:
        same_keys(entry, keys)
        if not isinstance(entry[keys[0]], str):
            raise JudgeError(f"{keys[0]}: not a str")
    return entries


def exactly_once(got, wanted):
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    for odd in itertools.chain(got - wanted, wanted - got):
        raise JudgeError(f"{odd}: {got[odd]} times")


def parse_verdict(raw, acceptance_ids, submission_ids):
    verdict = decode(raw, ["submissions", "winner_submission_id", "reason"])
    entries = rows(verdict["submissions"], "submissions", ["submission_id", "checks"])
    for entry in entries:
        rows(entry["checks"], "checks", ["id", "reason", "pass"])
    exactly_once([entry["submission_id"] for entry in entries], submission_ids)
    table = {}
    for entry in entries:
        exactly_once([check["id"] for check in entry["checks"]], acceptance_ids)
        table.update({(entry["submission_id"], check["id"]): check for check in entry["checks"]})
    for check in table.values():
        if not isinstance(check["pass"], bool):
            raise JudgeError("pass: not a bool")
    reasons = [check["reason"] for check in table.values()] + [verdict["reason"]]
    if not all(isinstance(reason, str) and reason.strip() for reason in reasons):
        raise JudgeError("reason: not a str, or blank")
    failed = {submission for (submission, _), check in table.items() if not check["pass"]}
    passed = set(submission_ids) - failed
    winner = verdict["winner_submission_id"]
    if (winner is None) != (not passed) or (winner is not None and (not isinstance(winner, str) or winner not in passed)):
        raise JudgeError("winner_submission_id: not proven")
    judged = [
        {"submission_id": submission, "checks": [{**table[submission, item], "reason": table[submission, item]["reason"].strip()} for item in acceptance_ids]}
        for submission in submission_ids
    ]
    return {"submissions": judged, "winner_submission_id": winner, "reason": verdict["reason"].strip()}


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    ids = {}
    for name, records in (("acceptance", acceptance), ("submissions", submissions)):
        ids[name] = [record["id"] for record in records]
        for record_id, times in collections.Counter(ids[name]).items():
            if times > 1 or record_id.strip() == "":
                raise JudgeError(f"{name}: {record_id!r} {times} times")
    if ids["acceptance"] == []:
        raise JudgeError("acceptance: empty")
    if ids["submissions"] == []:
        return {"winner_submission_id": None, "checks": [], "reason": "nobody"}

    def ask(order):
        about = dict(zip(("title", "spec"), (task["title"], task["spec"])))
        raw = client(build_messages(INSTRUCTIONS["contest"], dict(task=about, acceptance=acceptance, submissions=order)))
        return parse_verdict(raw, ids["acceptance"], ids["submissions"])

    first = ask(submissions)
    winners = {first["winner_submission_id"]}
    if both_orders:
        winners.add(ask(submissions[::-1])["winner_submission_id"])
    if len(winners) > 1:
        raise JudgeError(f"several winners: {winners - {None}}")
    (winner,) = winners
    checks = {entry["submission_id"]: entry["checks"] for entry in first["submissions"]}
    return {"winner_submission_id": winner, "checks": checks[winner] if winner is not None else [], "reason": first["reason"]}


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    if not submissions:
        raise JudgeError("submissions: none")
    data = dict(task=dict(title=task["title"], spec=task["spec"]), acceptance=acceptance, latest=submissions[-1], earlier=submissions[:-1])
    opinion = decode(client(build_messages(INSTRUCTIONS["dispute"], {**data, "reviews": reviews, "comments": comments})), ["recommendation", "reason"])
    if not isinstance(opinion["reason"], str) or not opinion["reason"].strip():
        raise JudgeError("reason: not a str, or blank")
    if [opinion["recommendation"]] not in (["pay_taker"], ["refund_publisher"]):
        raise JudgeError("recommendation: not one of two")
    return dict(recommendation=opinion["recommendation"], reason=opinion["reason"].strip(), binding=False)
