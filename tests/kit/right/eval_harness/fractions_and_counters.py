"""Exact numbers where numbers matter, counters and sets where things are counted."""

import statistics
from collections import Counter, OrderedDict
from fractions import Fraction
from numbers import Real


def shell_exit_zero(files, args, expected, run_command):
    """V1 to V3."""
    detail = {"argv": args["argv"], "limit": args["timeout_seconds"]}
    try:
        detail["code"], detail["output"] = run_command(files, args["argv"], args["timeout_seconds"])
    except OSError as error:
        detail["error"] = str(error)
    lines = [f"{name}: {value}" for name, value in detail.items()]
    return detail.get("code", None) == 0, "; ".join(lines)


def lay_over(buggy, work, editable):
    """W1 to W4: two sets of paths."""
    mine, theirs = set(buggy) - set(editable), set(work) & set(editable)
    return OrderedDict(
        [(path, buggy[path]) for path in sorted(mine)] + [(path, work[path]) for path in sorted(theirs)]
    )


_FIELDS = {
    "cost_units": lambda value: (
        isinstance(value, Real) and not isinstance(value, bool) and Fraction(0) <= value <= 10**12
    ),
    "success_self_reported": lambda value: isinstance(value, bool),
}


def run_sample(candidate, verify, clock):
    """S1 to S5."""
    times, sample = [clock()], {"status": "error", "cost_units": 0.0, "success_self_reported": None}
    try:
        claim, reason = candidate(), None
    except Exception as error:
        claim, reason = None, error
    times.append(clock())
    sample["latency_ms"] = round(1000 * (times[1] - times[0]), 3)
    if reason:
        return {**sample, "detail": f"{type(reason).__qualname__} with {reason.args} {reason}"}
    wrong = sorted(
        name
        for name, holds in _FIELDS.items()
        if not (isinstance(claim, dict) and name in claim and holds(claim[name]))
    )
    if wrong:
        return {**sample, "detail": "wrong: " + ", ".join(wrong)}
    passed, sample["detail"] = verify()
    sample.update({name: claim[name] for name in _FIELDS}, status={True: "pass", False: "fail"}[passed])
    return sample


def pass_at_k(n, c, k):
    """K1, K2: an exact fraction, and one division at the end."""
    limits = {"n": (n, 1), "c": (c, 0), "k": (k, 1)}
    for name, (value, least) in limits.items():
        if type(value) is not int or value < least or (name != "n" and value > n):
            raise ValueError(f"{name}: {value!a} is not possible")
    none = Fraction(math.comb(n - c, k), math.comb(n, k))
    return float(1 - none)


def summarize(samples, ks):
    """N1 to N4."""
    statuses = Counter(sample["status"] for sample in samples)
    latencies = sorted(Fraction(sample["latency_ms"]) for sample in samples)
    costs = [Fraction(sample["cost_units"]) for sample in samples]
    rank = -(-19 * len(samples) // 20)
    result = Counter({"samples": len(samples), "passes": statuses["pass"], "errors": statuses["error"]})
    return {
        **result,
        "pass_rate": round(statuses["pass"] / len(samples), 6),
        "pass_at_k": dict((str(k), round(pass_at_k(len(samples), statuses["pass"], k), 6)) for k in ks),
        "mean_latency_ms": round(float(statistics.mean(latencies)), 3),
        "p95_latency_ms": round(float(latencies[rank - 1]), 3),
        "mean_cost": round(float(sum(costs) / len(costs)), 6),
        "total_cost": round(float(sum(costs)), 6),
    }


def compare(old, new):
    """B1 to B3."""
    different = [field for field in ("suite_sha256", "samples") if old[field] != new[field]]
    if different:
        raise ScenarioError(f"not comparable: {' and '.join(different)}")
    counts = [Counter({task["task_id"]: task["passes"] for task in report["tasks"]}) for report in (old, new)]
    only = [name for name in {**counts[0], **counts[1]} if (name in counts[0]) != (name in counts[1])]
    if only:
        raise ScenarioError(f"not in both: {only}")
    fewer, more = counts[0] - counts[1], counts[1] - counts[0]
    return {
        "regressed": [name for name in counts[1] if name in fewer],
        "improved": [name for name in counts[1] if name in more],
        "unchanged": [name for name in counts[1] if name not in fewer and name not in more],
    }
