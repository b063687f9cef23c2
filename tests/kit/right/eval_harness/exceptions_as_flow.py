"""Exceptions carry what goes wrong to one place, in each function."""

import contextlib


class _No(Exception):
    """The files are not right."""


def shell_exit_zero(files, args, expected, run_command):
    """V1 to V3."""
    argv, limit = args["argv"], args["timeout_seconds"]
    try:
        try:
            code, output = run_command(files, argv, limit)
        except OSError as error:
            raise _No(f"{argv[0]!s} did not start ({error})") from None
        if code is None:
            raise _No(f"{limit} seconds were not enough. {output}")
        if code:
            raise _No(f"{output} => {code}")
    except _No as no:
        return False, str(no)
    return True, f"{output} => {code}"


def lay_over(buggy, work, editable):
    """W1 to W4."""
    laid = buggy.copy()
    for path in editable:
        with contextlib.suppress(KeyError):
            del laid[path]
        with contextlib.suppress(KeyError):
            laid[path] = work[path]
    return laid


def _checked(claim):
    try:
        success, cost = claim["success_self_reported"], claim["cost_units"]
    except KeyError as error:
        raise _No(f"missing: {error.args[0]}") from None
    except (TypeError, IndexError):
        raise _No("what it returned has no fields") from None
    if success not in (True, False) or not isinstance(success, bool):
        raise _No("success_self_reported")
    if not isinstance(cost, (int, float)) or isinstance(cost, bool) or not 0 <= cost <= 1e12:
        raise _No("cost_units")
    return success, cost


def run_sample(candidate, verify, clock):
    """S1 to S5."""
    start, failure, claim = clock(), None, None
    try:
        claim = candidate()
    except Exception as error:
        failure = f"{type(error).__name__}({error})"
    finally:
        latency_ms = round((clock() - start) * 1000.0, 3)
    try:
        if failure is not None:
            raise _No(failure)
        success, cost = _checked(claim)
    except _No as no:
        return dict(status="error", detail=str(no), latency_ms=latency_ms, cost_units=0.0, success_self_reported=None)
    passed, detail = verify()
    return dict(
        latency_ms=latency_ms,
        cost_units=cost,
        success_self_reported=success,
        status="pass" if passed else "fail",
        detail=detail,
    )


def _between(name, value, low, high):
    try:
        if type(value) is not int:
            raise TypeError
        range(low, high + 1).index(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: not a whole number from {low} on") from None


def pass_at_k(n, c, k):
    """K1, K2."""
    _between("n", n, 1, n if type(n) is int else 1)
    _between("c", c, 0, n)
    _between("k", k, 1, n)
    try:
        return 1 - math.comb(n - c, k) / math.comb(n, k)
    except OverflowError:
        return 1.0


def summarize(samples, ks):
    """N1 to N4."""
    count, passes, errors = len(samples), 0, 0
    for sample in samples:
        passes += sample["status"] == "pass"
        errors += sample["status"] == "error"
    latencies = [sample["latency_ms"] for sample in samples]
    costs = [sample["cost_units"] for sample in samples]
    waiting, place = list(latencies), math.ceil(0.95 * count)
    for _ in range(count - place):
        waiting.remove(max(waiting))
    return {
        "samples": count, "passes": passes, "errors": errors, "pass_rate": round(passes / count, 6),
        "pass_at_k": {str(k): round(pass_at_k(count, passes, k), 6) for k in ks},
        "mean_latency_ms": round(math.fsum(latencies) / count, 3), "p95_latency_ms": round(max(waiting), 3),
        "mean_cost": round(math.fsum(costs) / count, 6), "total_cost": round(math.fsum(costs), 6),
    }  # fmt: skip


def compare(old, new):
    """B1 to B3."""
    before = {task["task_id"]: task["passes"] for task in old["tasks"]}
    sorted_out = {"regressed": [], "improved": [], "unchanged": []}
    try:
        assert old["suite_sha256"] == new["suite_sha256"], "suite_sha256"
        assert old["samples"] == new["samples"], "samples"
        for task in new["tasks"]:
            step = task["passes"] - before.pop(task["task_id"])
            kind = "unchanged" if not step else "improved" if step > 0 else "regressed"
            sorted_out[kind].append(task["task_id"])
        assert not before, f"no longer there: {list(before)}"
    except AssertionError as error:
        raise ScenarioError(str(error)) from None
    except KeyError as error:
        raise ScenarioError(f"new here: {error.args[0]}") from None
    return sorted_out
