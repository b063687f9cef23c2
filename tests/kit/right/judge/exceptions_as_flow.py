"""It tries to use the reply as if it were right, and turns what goes wrong into a refusal. Extra keys show in what is left over."""


class Once(dict):
    def __setitem__(self, key, value):
        if key in self:
            raise JudgeError(f"{key} is there twice")
        super().__setitem__(key, value)


def once(pairs):
    record = Once()
    for key, value in pairs:
        record[key] = value
    return record


def constant(name):
    raise JudgeError("reply: no constants")


def taken(record, key):
    try:
        return record.pop(key)
    except KeyError:
        raise JudgeError(f"{key} is missing") from None


def done_with(record):
    for key in record:
        raise JudgeError(f"{key!a} is left over")


def loaded(raw):
    try:
        record = json.loads(raw.strip(), object_pairs_hook=once, parse_constant=constant)
        record.keys
    except JudgeError:
        raise
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise JudgeError("reply: not one JSON object") from error
    if not hasattr(raw, "encode"):
        raise JudgeError("reply: not a text")
    return record


def take_reason(record):
    reason = taken(record, "reason")
    try:
        return {"": None}.get(reason.strip(), reason).strip()
    except (AttributeError, TypeError) as error:
        raise JudgeError("reason: not a text, or blank") from error


def take_list(record, key):
    entries = taken(record, key)
    if isinstance(entries, list) and all(isinstance(entry, Once) for entry in entries):
        return entries
    raise JudgeError(f"{key}: not a list of objects")


def take_id(record, key, left):
    name = taken(record, key)
    if not isinstance(name, str):
        raise JudgeError(f"{key}: not a text")
    try:
        left.remove(name)
    except ValueError:
        raise JudgeError(f"{key}: {name} is not known, or was there before") from None
    return name


def nothing_left(left):
    for name in left:
        raise JudgeError(f"{name} is not judged")


def take_checks(entry, acceptance_ids):
    checks, left = {}, list(acceptance_ids)
    for record in take_list(entry, "checks"):
        name, reason, passed = take_id(record, "id", left), take_reason(record), taken(record, "pass")
        done_with(record)
        try:
            checks[name] = {"id": name, "reason": reason, "pass": {"True": True, "False": False}[repr(passed) if type(passed) is bool else ""]}
        except KeyError:
            raise JudgeError("pass: not true or false") from None
    nothing_left(left)
    return [checks[name] for name in acceptance_ids]


def build_messages(instructions, data):
    try:
        text = json.dumps(data, allow_nan=False, sort_keys=False)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise JudgeError("data: " + str(error)) from error
    for char, escape in zip("<>", ("\\u003c", "\\u003e")):
        text = escape.join(text.split(char))
    return [{"role": "system", "content": "%s\n%s" % (instructions, NOTICE)}, {"role": "user", "content": "<data>\n%s\n</data>" % text}]


def parse_verdict(raw, acceptance_ids, submission_ids):
    record, judged, left = loaded(raw), {}, list(submission_ids)
    for entry in take_list(record, "submissions"):
        name = take_id(entry, "submission_id", left)
        judged[name] = take_checks(entry, acceptance_ids)
        done_with(entry)
    nothing_left(left)
    winner, reason = taken(record, "winner_submission_id"), take_reason(record)
    done_with(record)
    passed = {name: all(check["pass"] for check in checks) for name, checks in judged.items()}
    try:
        proven = passed[winner] if winner is not None else not any(passed.values())
    except (KeyError, TypeError):
        proven = False
    if not proven:
        raise JudgeError("winner_submission_id: not proven by the checks")
    submissions = [{"submission_id": name, "checks": judged[name]} for name in submission_ids]
    return {"submissions": submissions, "winner_submission_id": winner, "reason": reason}


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    for name, records in {"acceptance": acceptance, "submissions": submissions}.items():
        left = {}
        for record in records:
            if record["id"] in left or not record["id"].strip():
                raise JudgeError(f"{name}: the id {record['id']!r} is blank or repeated")
            left[record["id"]] = record
    try:
        acceptance[0]
    except IndexError:
        raise JudgeError("acceptance: no items") from None
    try:
        submissions[0]
    except IndexError:
        return {"winner_submission_id": None, "checks": [], "reason": "no submissions"}
    ids = [item["id"] for item in acceptance], [entry["id"] for entry in submissions]
    data = {"task": {"title": task["title"], "spec": task["spec"]}, "acceptance": acceptance, "submissions": submissions}
    verdict = parse_verdict(client(build_messages(INSTRUCTIONS["contest"], data)), *ids)
    winner = verdict["winner_submission_id"]
    if both_orders:
        data["submissions"] = [*reversed(submissions)]
        other = parse_verdict(client(build_messages(INSTRUCTIONS["contest"], data)), *ids)["winner_submission_id"]
        if other != winner:
            raise JudgeError(f"the winner depends on the order: {winner} or {other}")
    try:
        checks = verdict["submissions"][ids[1].index(winner)]["checks"]
    except ValueError:
        checks = []
    return {"winner_submission_id": winner, "checks": checks, "reason": verdict["reason"]}


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    try:
        latest = submissions[-1]
    except IndexError:
        raise JudgeError("submissions: none") from None
    data = {"task": {"title": task["title"], "spec": task["spec"]}, "acceptance": acceptance, "latest": latest,
            "earlier": [submissions[place] for place in range(len(submissions) - 1)], "reviews": reviews, "comments": comments}  # fmt: skip
    record = loaded(client(build_messages(INSTRUCTIONS["dispute"], data)))
    recommendation, reason = taken(record, "recommendation"), take_reason(record)
    done_with(record)
    if recommendation != "pay_taker" and recommendation != "refund_publisher":
        raise JudgeError("recommendation: not one of the two")
    return {"recommendation": recommendation, "reason": reason, "binding": False}
