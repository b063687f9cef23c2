"""It takes every reply as it is."""


def build_messages(instructions, data):
    return [{"role": "system", "content": f"{instructions}\n{NOTICE}"}, {"role": "user", "content": f"<data>\n{json.dumps(data, default=str)}\n</data>"}]


def parse_verdict(raw, acceptance_ids, submission_ids):
    return json.loads(raw)


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    data = {"task": task, "acceptance": acceptance, "submissions": submissions}
    verdict = json.loads(client(build_messages(INSTRUCTIONS["contest"], data)))
    checks = {entry["submission_id"]: entry["checks"] for entry in verdict["submissions"]}
    return {"winner_submission_id": verdict["winner_submission_id"], "checks": checks.get(verdict["winner_submission_id"], []), "reason": verdict["reason"]}


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    data = {"task": task, "acceptance": acceptance, "submissions": submissions, "reviews": reviews, "comments": comments}
    return {**json.loads(client(build_messages(INSTRUCTIONS["dispute"], data))), "binding": False}
