"""As short as it gets: assertions of its own, one word a message, and what is free done in another way."""


def need(holds, word):
    if not holds:
        raise JudgeError(str(word))


def unique(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        need(keys.count(key) == 1, key)
    return dict(pairs)


def constant(word):
    raise JudgeError("reply")


def object_of(raw, *keys):
    need(isinstance(raw, str), "reply")
    try:
        record = json.loads(raw.strip(), object_pairs_hook=unique, parse_constant=constant)
    except (ValueError, RecursionError):
        need(False, "reply")
    need(isinstance(record, dict), "reply")
    return having(record, keys)


def having(record, keys):
    need(record.keys() == set(keys), sorted(record.keys() ^ set(keys)))
    return record


def text(record, key="reason"):
    need(isinstance(record[key], str) and record[key].strip(), key)
    return record[key].strip()


def each(records, name, keys, ids):
    need(isinstance(records, list) and all(isinstance(record, dict) for record in records), name)
    for record in records:
        having(record, keys)
        need(isinstance(record[keys[0]], str), keys[0])
    given = [record[keys[0]] for record in records]
    need(sorted(given) == sorted(ids), [name for name in [*given, *ids] if given.count(name) != 1 or name not in ids])
    return sorted(records, key=lambda record: ids.index(record[keys[0]]))


def build_messages(instructions, data):
    try:
        block = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        need(False, "data")
    block = block.replace("<", "\\u003C").replace(">", "\\u003E").replace("&", "\\u0026")
    return [dict(role="system", content=instructions + "\n" + NOTICE), dict(role="user", content="<data>\n" + block + "\n</data>")]


def parse_verdict(raw, acceptance_ids, submission_ids):
    verdict = object_of(raw, "submissions", "winner_submission_id", "reason")
    verdict["submissions"] = each(verdict["submissions"], "submissions", ("submission_id", "checks"), submission_ids)
    for entry in verdict["submissions"]:
        entry["checks"] = each(entry["checks"], "checks", ("id", "reason", "pass"), acceptance_ids)
        for check in entry["checks"]:
            need(check["pass"] is True or check["pass"] is False, "pass")
            check["reason"] = text(check)
    verdict["reason"] = text(verdict)
    passed = [entry["submission_id"] for entry in verdict["submissions"] if all(check["pass"] for check in entry["checks"])]
    need(verdict["winner_submission_id"] in (passed or [None]), "winner_submission_id")
    return verdict


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    ids = {"acceptance": [item["id"] for item in acceptance], "submissions": [entry["id"] for entry in submissions]}
    need(acceptance, "acceptance")
    for name, given in ids.items():
        wrong = [each_id for each_id in given if not each_id.strip() or given.count(each_id) > 1]
        need(not wrong, (name, *wrong))
    if not submissions:
        return dict(winner_submission_id=None, checks=[], reason="")
    data, verdicts = {"task": {key: task[key] for key in ("title", "spec")}, "acceptance": acceptance}, []
    for order in (1, -1)[: 1 + both_orders]:
        data["submissions"] = submissions[::order]
        verdicts.append(parse_verdict(client(build_messages(INSTRUCTIONS["contest"], data)), *ids.values()))
    winners = [verdict["winner_submission_id"] for verdict in verdicts]
    need(winners[0] == winners[-1], winners)
    checks = [entry["checks"] for entry in verdicts[0]["submissions"] if entry["submission_id"] == winners[0]]
    return dict(winner_submission_id=winners[0], checks=sum(checks, []), reason=verdicts[0]["reason"])


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    need(submissions, "submissions")
    *earlier, latest = submissions
    data = {"task": {key: task[key] for key in ("title", "spec")}, "acceptance": acceptance, "latest": latest, "earlier": earlier}
    opinion = object_of(client(build_messages(INSTRUCTIONS["dispute"], {**data, "reviews": reviews, "comments": comments})), "recommendation", "reason")
    need(opinion["recommendation"] in ("pay_taker", "refund_publisher"), "recommendation")
    return {**opinion, "reason": text(opinion), "binding": False}
