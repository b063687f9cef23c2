"""Checks are generators of problems; the first problem of all is raised. The reply is decoded to pairs, so that nothing is lost."""


class Pairs(list):
    """The pairs of a JSON object as they were written."""


def not_json(name):
    raise ValueError(name)


def build_messages(instructions, data):
    try:
        text = json.dumps(data, allow_nan=False)
    except Exception as error:
        raise JudgeError(f"data is not JSON ({type(error).__name__})") from error
    text = text.translate({ord("<"): "\\u003c", ord(">"): "\\u003e"})
    return [
        {"role": "system", "content": f"{instructions}\n{NOTICE}"},
        {"role": "user", "content": f"<data>\n{text}\n</data>"},
    ]


def read_pairs(raw):
    try:
        pairs = json.loads(str.strip(raw), object_pairs_hook=Pairs, parse_constant=not_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise JudgeError("reply is not JSON") from error
    if type(pairs) is not Pairs:
        raise JudgeError("reply is not an object")
    return pairs


def key_problems(pairs, keys):
    names = [name for name, _ in pairs]
    yield from (f"{name} is given twice" for name in names if names.count(name) > 1)
    yield from (f"{name} is missing" for name in keys if name not in names)
    yield from (f"{name} is one key too many" for name in names if name not in keys)


def inner_problems(value):
    """A key given twice counts wherever it is, in a value that has no business there too."""
    stack = [value]
    while stack:
        value = stack.pop()
        if type(value) is Pairs:
            names = [name for name, _ in value]
            yield from (f"{name} is given twice" for name in names if names.count(name) > 1)
            stack += [item for _, item in value]
        elif type(value) is list:
            stack += value


def list_problems(value, name):
    if type(value) is not list or any(type(entry) is not Pairs for entry in value):
        yield f"{name} is not a list of objects"


def id_problems(found, ids, key):
    for name in found:
        if type(name) is not str:
            yield f"{key} is not a text"
        elif name not in ids:
            yield f"{name} was not given"
        elif found.count(name) > 1:
            yield f"{name} is judged {found.count(name)} times"
    yield from (f"{name} is not judged" for name in ids if name not in found)


def reason_problems(value):
    if type(value) is not str or value.strip() == "":
        yield "reason is blank, or not a text"


def raise_first(problems):
    for problem in problems:
        raise JudgeError(problem)


def checks_of(pairs_list, item_ids):
    raise_first(list_problems(pairs_list, "checks"))
    for pairs in pairs_list:
        raise_first(key_problems(pairs, ["id", "reason", "pass"]))
    checks = [dict(pairs) for pairs in pairs_list]
    raise_first(id_problems([check["id"] for check in checks], item_ids, "id"))
    for check in checks:
        raise_first(reason_problems(check["reason"]))
        raise_first("pass is not true or false" for _ in range(type(check["pass"]) is not bool))
        check["reason"] = check["reason"].strip()
    return [next(check for check in checks if check["id"] == name) for name in item_ids]


def parse_verdict(raw, acceptance_ids, submission_ids):
    pairs = read_pairs(raw)
    raise_first(inner_problems(pairs))
    raise_first(key_problems(pairs, ["submissions", "winner_submission_id", "reason"]))
    verdict = dict(pairs)
    raise_first(list_problems(verdict["submissions"], "submissions"))
    for entry in verdict["submissions"]:
        raise_first(key_problems(entry, ["submission_id", "checks"]))
    entries = [dict(entry) for entry in verdict["submissions"]]
    raise_first(id_problems([entry["submission_id"] for entry in entries], submission_ids, "submission_id"))
    raise_first(reason_problems(verdict["reason"]))
    judged = []
    for name in submission_ids:
        entry = next(entry for entry in entries if entry["submission_id"] == name)
        judged.append({"submission_id": name, "checks": checks_of(entry["checks"], acceptance_ids)})
    winner, best = verdict["winner_submission_id"], [entry["submission_id"] for entry in judged if min([check["pass"] for check in entry["checks"]])]
    raise_first("winner_submission_id is not proven" for _ in [0] if (type(winner) is not str or winner not in best) and not (winner is None and not best))
    return {"submissions": judged, "winner_submission_id": winner, "reason": verdict["reason"].strip()}


def contest_problems(acceptance, submissions):
    if not acceptance:
        yield "acceptance has no items"
    for name, records in (("acceptance", acceptance), ("submissions", submissions)):
        seen = set()
        for record in records:
            if not record["id"].strip():
                yield f"{name} has a blank id"
            if record["id"] in seen:
                yield f"{name} has {record['id']} twice"
            seen.add(record["id"])


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    raise_first(contest_problems(acceptance, submissions))
    result = {"winner_submission_id": None, "checks": [], "reason": "no submissions"}
    if submissions:
        verdicts = verdicts_on(task, acceptance, submissions, client)
        verdict = next(verdicts)
        winner = verdict["winner_submission_id"]
        other = next(verdicts)["winner_submission_id"] if both_orders and len(submissions) > 1 else winner
        raise_first(f"two winners: {winner}, {other}" for _ in [0] if winner != other)
        checks = dict((entry["submission_id"], entry["checks"]) for entry in verdict["submissions"])
        result = {"winner_submission_id": winner, "checks": checks.get(winner, []), "reason": verdict["reason"]}
    return result


def verdicts_on(task, acceptance, submissions, client):
    for order in (submissions, list(reversed(submissions))):
        about = {"title": task["title"], "spec": task["spec"]}
        messages = build_messages(INSTRUCTIONS["contest"], {"task": about, "acceptance": acceptance, "submissions": order})
        yield parse_verdict(client(messages), [item["id"] for item in acceptance], [entry["id"] for entry in submissions])


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    raise_first("submissions is empty" for _ in [0] if not submissions)
    about = {"title": task["title"], "spec": task["spec"]}
    data = {"task": about, "acceptance": acceptance, "latest": submissions[-1], "earlier": submissions[:-1], "reviews": reviews, "comments": comments}
    pairs = read_pairs(client(build_messages(INSTRUCTIONS["dispute"], data)))
    raise_first(inner_problems(pairs))
    raise_first(key_problems(pairs, ["recommendation", "reason"]))
    opinion = dict(pairs)
    raise_first(reason_problems(opinion["reason"]))
    raise_first("recommendation is neither of the two" for _ in [0] if opinion["recommendation"] not in ("pay_taker", "refund_publisher"))
    return {"recommendation": opinion["recommendation"], "reason": opinion["reason"].strip(), "binding": False}
