"""Objects: a Verdict made of Judged made of Check, which check themselves when they are made, and know who qualifies."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Check:
    id: object
    reason: object
    passed: object

    def __post_init__(self):
        if not isinstance(self.id, str):
            raise JudgeError(f"id: {show(self.id)}")
        if not isinstance(self.passed, bool):
            raise JudgeError(f"pass: {show(self.passed)}")
        object.__setattr__(self, "reason", stripped(self.reason))

    def plain(self):
        return {"id": self.id, "reason": self.reason, "pass": self.passed}


@dataclasses.dataclass(frozen=True)
class Judged:
    submission_id: object
    checks: tuple

    def __post_init__(self):
        if not isinstance(self.submission_id, str):
            raise JudgeError(f"submission_id: {show(self.submission_id)}")

    @property
    def qualifies(self):
        return all(check.passed for check in self.checks)

    def plain(self):
        return {"submission_id": self.submission_id, "checks": [check.plain() for check in self.checks]}


@dataclasses.dataclass(frozen=True)
class Verdict:
    judged: tuple
    winner: object
    reason: object

    def __post_init__(self):
        object.__setattr__(self, "reason", stripped(self.reason))
        if self.winner not in (self.qualified or (None,)):
            raise JudgeError(f"winner_submission_id: {show(self.winner)}")

    @property
    def qualified(self):
        return tuple(entry.submission_id for entry in self.judged if entry.qualifies)

    @property
    def checks(self):
        return next((entry.plain()["checks"] for entry in self.judged if entry.submission_id == self.winner), [])

    def plain(self):
        return {"submissions": [entry.plain() for entry in self.judged], "winner_submission_id": self.winner, "reason": self.reason}

    def result(self):
        return {"winner_submission_id": self.winner, "checks": self.checks, "reason": self.reason}


class Reply:
    """The object that a reply consists of; it gives its values by key, and knows which keys it may have."""

    class Decoder(json.JSONDecoder):
        def __init__(self):
            super().__init__(object_pairs_hook=self.unique, parse_constant=self.refuse)

        @staticmethod
        def unique(pairs):
            for number, (key, _) in enumerate(pairs):
                if any(key == other for other, _ in pairs[number + 1 :]):
                    raise JudgeError(f"{show(key)}: twice")
            return dict(pairs)

        @staticmethod
        def refuse(name):
            raise JudgeError(f"reply: {name}")

    def __init__(self, raw):
        if type(raw) is not str:
            raise JudgeError(f"reply: {show(raw)}")
        try:
            self.record = self.Decoder().decode(raw.strip())
        except (ValueError, RecursionError) as error:
            raise JudgeError(f"reply: {type(error).__name__}") from error
        if not isinstance(self.record, dict):
            raise JudgeError("reply: not an object")

    def values(self, *keys):
        return values(self.record, *keys)


def values(record, *keys):
    for key in {**dict.fromkeys(keys), **record}:
        if (key in keys) + (key in record) == 1:
            raise JudgeError(f"{show(key)}: missing or extra")
    return [record[key] for key in keys]


def stripped(reason):
    if isinstance(reason, str) and reason.strip():
        return reason.strip()
    raise JudgeError(f"reason: {show(reason)}")


def objects(entries, name):
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        return entries
    raise JudgeError(f"{name}: {show(entries)}")


def sorted_by(ids, entries, id_of):
    for entry in entries:
        if id_of(entry) not in ids:
            raise JudgeError(f"unknown: {id_of(entry)}")
    for name in ids:
        if sum(id_of(entry) == name for entry in entries) != 1:
            raise JudgeError(f"not exactly once: {name}")
    return tuple(sorted(entries, key=lambda entry: ids.index(id_of(entry))))


class Block:
    def __init__(self, data):
        try:
            self.text = json.dumps(data, allow_nan=False, indent=2, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise JudgeError(f"data: {error}") from error

    def __str__(self):
        escaped = "".join(f"\\u{ord(char):04x}" if char in "<>" else char for char in self.text)
        return f"<data>\n{escaped}\n</data>"


def build_messages(instructions, data):
    contents = {"system": f"{instructions}\n{NOTICE}", "user": str(Block(data))}
    return [{"role": role, "content": content} for role, content in contents.items()]


def parse_verdict(raw, acceptance_ids, submission_ids):
    return read_verdict(raw, acceptance_ids, submission_ids).plain()


def read_verdict(raw, acceptance_ids, submission_ids):
    entries, winner, reason = Reply(raw).values("submissions", "winner_submission_id", "reason")
    judged = []
    for entry in objects(entries, "submissions"):
        submission_id, checks = values(entry, "submission_id", "checks")
        made = [Check(*values(check, "id", "reason", "pass")) for check in objects(checks, "checks")]
        judged.append(Judged(submission_id, sorted_by(acceptance_ids, made, lambda check: check.id)))
    return Verdict(sorted_by(submission_ids, judged, lambda entry: entry.submission_id), winner, reason)


class Contest:
    def __init__(self, task, acceptance, submissions, client):
        self.task = {key: value for key, value in task.items() if key in ("title", "spec")}
        self.acceptance, self.submissions, self.client = acceptance, submissions, client
        self.item_ids, self.submission_ids = self.ids("acceptance"), self.ids("submissions")
        if not acceptance:
            raise JudgeError("acceptance: empty")

    def ids(self, name):
        ids = [record["id"] for record in getattr(self, name)]
        for record_id in ids:
            if ids.count(record_id) > 1 or not record_id.strip():
                raise JudgeError(f"{name}: {show(record_id)}")
        return ids

    def verdict(self, order=1):
        data = {"task": self.task, "acceptance": self.acceptance, "submissions": self.submissions[::order]}
        return read_verdict(self.client(build_messages(INSTRUCTIONS["contest"], data)), self.item_ids, self.submission_ids)


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    contest = Contest(task, acceptance, submissions, client)
    if not submissions:
        return Verdict((), None, "no submissions").result()
    verdict = contest.verdict()
    if both_orders and contest.verdict(-1).winner != verdict.winner:
        # which the other one was is lost: ask nobody again, and name all that it can have been
        raise JudgeError(f"winner_submission_id: {', '.join(contest.submission_ids)}")
    return verdict.result()


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    if not submissions:
        raise JudgeError("submissions: empty")
    data = {"task": {"title": task["title"], "spec": task["spec"]}, "acceptance": acceptance, "reviews": reviews, "comments": comments}
    data["latest"], data["earlier"] = submissions[-1], submissions[0 : len(submissions) - 1]
    recommendation, reason = Reply(client(build_messages(INSTRUCTIONS["dispute"], data))).values("recommendation", "reason")
    if not (isinstance(recommendation, str) and recommendation in {"pay_taker", "refund_publisher"}):
        raise JudgeError(f"recommendation: {show(recommendation)}")
    return {"recommendation": recommendation, "reason": stripped(reason), "binding": False}
