"""Expressions: maps, filters, generators and partial functions instead of statements."""

from functools import partial, reduce
from itertools import chain
from operator import itemgetter


def shell_exit_zero(files, args, expected, run_command):
    """V1 to V3."""
    argv, seconds = itemgetter("argv", "timeout_seconds")(args)
    try:
        return (
            lambda code, output: (code == 0, f"{output}\n{'stopped, ' if code is None else ''}{code}, limit {seconds}")
        )(*run_command(files, argv, seconds))
    except OSError as error:
        return False, " ".join(map(str, [*argv, error]))


def lay_over(buggy, work, editable):
    """W1 to W4."""
    kept = filter(lambda item: item[0] not in editable, buggy.items())
    left = filter(lambda item: item[0] in editable, work.items())
    return dict(chain(left, kept))


def _outcome(function):
    try:
        return True, function()
    except Exception as error:
        return False, ": ".join((type(error).__name__, *map(str, error.args)))


def _reasons(claim):
    if type(claim) is not dict:
        yield ""
        return
    if claim.get("success_self_reported") not in (True, False) or type(claim["success_self_reported"]) is not bool:
        yield "success_self_reported has to be true or false"
    if not (
        type(claim.get("cost_units")) in (int, float)
        and min(max(claim["cost_units"], 0), 10**12) == claim["cost_units"]
    ):
        yield "cost_units has to be a number from 0 to 1e12"


def run_sample(candidate, verify, clock):
    """S1 to S5."""
    started, (returned, claim), ended = clock(), _outcome(candidate), clock()
    fields = partial(dict, latency_ms=round((ended - started) * 1e3, 3))
    reason = next(_reasons(claim), None) if returned else claim
    if reason is not None:
        return fields(status="error", detail=reason, cost_units=0.0, success_self_reported=None)
    passed, detail = verify()
    wanted = {name: claim[name] for name in ("cost_units", "success_self_reported")}
    return fields(status="pass" if passed is True else "fail", detail=detail, **wanted)


def _require(name, value, possible):
    if not (type(value) is int and value in possible):
        raise ValueError(name + ": " + ascii(value))


def pass_at_k(n, c, k):
    """K1, K2: the chance that each failed draw follows another."""
    _require("n", n, range(1, max(n, 1) + 1) if type(n) is int else ())
    _require("c", c, range(n + 1))
    _require("k", k, range(1, n + 1))
    if c > n - k:
        return 1.0
    return 1.0 - reduce(lambda none, left: none * (1.0 - k / left), range(n - c + 1, n + 1), 1.0)


def summarize(samples, ks):
    """N1 to N4."""
    column = lambda name: list(map(itemgetter(name), samples))
    count = lambda status: column("status").count(status)
    size, mean = len(samples), lambda name, places: round(sum(column(name)) / len(samples), places)
    return {
        "samples": size,
        "passes": count("pass"),
        "errors": count("error"),
        "pass_rate": round(count("pass") / size, 6),
        "pass_at_k": dict(zip(map(str, ks), (round(pass_at_k(size, count("pass"), k), 6) for k in ks))),
        "mean_latency_ms": mean("latency_ms", 3),
        "p95_latency_ms": round(sorted(column("latency_ms"))[::-1][size - math.ceil(size * 0.95)], 3),
        "mean_cost": mean("cost_units", 6),
        "total_cost": round(sum(column("cost_units"), 0.0), 6),
    }


def _sign(number):
    return (number > 0) - (number < 0)


def compare(old, new):
    """B1 to B3."""
    for field in filter(lambda field: old[field] != new[field], ("samples", "suite_sha256")):
        raise ScenarioError(f"{field} differs")
    before, now = (dict(map(itemgetter("task_id", "passes"), report["tasks"])) for report in (old, new))
    for name in chain(before.keys() - now.keys(), now.keys() - before.keys()):
        raise ScenarioError(f"{name}: where is it?")
    kinds = {"regressed": -1, "improved": 1, "unchanged": 0}
    return {kind: [name for name in now if _sign(now[name] - before[name]) == sign] for kind, sign in kinds.items()}
