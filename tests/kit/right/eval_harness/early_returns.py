"""One guard after the other, plain loops, no helper but one."""


def shell_exit_zero(files, args, expected, run_command):
    """V1 to V3."""
    try:
        result = run_command(files, args["argv"], args["timeout_seconds"])
    except OSError:
        return (False, "could not start " + args["argv"][0])
    code = result[0]
    output = result[1]
    if code is None:
        return (False, output + " [stopped after " + str(args["timeout_seconds"]) + " seconds]")
    if code != 0:
        return (False, output + " [exit " + str(code) + "]")
    return (True, output + " [exit 0]")


def lay_over(buggy, work, editable):
    """W1 to W4: begin with a copy."""
    result = dict(buggy)
    for path in editable:
        if path in work:
            result[path] = work[path]
            continue
        if path in result:
            del result[path]
    return result


def _error(latency, detail):
    return {
        "status": "error",
        "detail": detail,
        "latency_ms": latency,
        "cost_units": 0.0,
        "success_self_reported": None,
    }


def run_sample(candidate, verify, clock):
    """S1 to S5."""
    start = clock()
    try:
        result = candidate()
    except Exception as error:
        end = clock()
        return _error(round((end - start) * 1000, 3), error.__class__.__name__ + ": " + str(error))
    end = clock()
    latency = round((end - start) * 1000, 3)
    if not isinstance(result, dict):
        return _error(latency, "no dict")
    for field in ["cost_units", "success_self_reported"]:
        if field not in result:
            return _error(latency, field + " is missing")
    cost = result["cost_units"]
    if isinstance(cost, bool) or not isinstance(cost, (int, float)):
        return _error(latency, "cost_units has the type " + type(cost).__name__)
    if cost != cost or cost < 0 or cost > 1e12:
        return _error(latency, "cost_units is out of range")
    claim = result["success_self_reported"]
    if claim is not True and claim is not False:
        return _error(latency, "success_self_reported is not a bool")
    passed, detail = verify()
    if passed:
        return {
            "status": "pass",
            "detail": detail,
            "latency_ms": latency,
            "cost_units": cost,
            "success_self_reported": claim,
        }
    return {
        "status": "fail",
        "detail": detail,
        "latency_ms": latency,
        "cost_units": cost,
        "success_self_reported": claim,
    }


def pass_at_k(n, c, k):
    """K1, K2: multiply the chances that each draw fails."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError("n: must be an int of at least 1")
    if isinstance(c, bool) or not isinstance(c, int) or c < 0 or c > n:
        raise ValueError("c: must be an int from 0 to n")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1 or k > n:
        raise ValueError("k: must be an int from 1 to n")
    if n - c < k:
        return 1.0
    none = 1.0
    for drawn in range(k):
        none = none * (n - c - drawn) / (n - drawn)
    return 1.0 - none


def summarize(samples, ks):
    """N1 to N4: one loop."""
    passes = 0
    errors = 0
    total_ms = 0
    total_cost = 0
    for sample in samples:
        if sample["status"] == "pass":
            passes += 1
        if sample["status"] == "error":
            errors += 1
        total_ms += sample["latency_ms"]
        total_cost += sample["cost_units"]
    estimates = {}
    for k in ks:
        estimates[str(k)] = round(pass_at_k(len(samples), passes, k), 6)
    ordered = [sample["latency_ms"] for sample in samples]
    ordered.sort()
    place = (95 * len(ordered) + 99) // 100
    return {
        "samples": len(samples),
        "passes": passes,
        "errors": errors,
        "pass_rate": round(passes / len(samples), 6),
        "pass_at_k": estimates,
        "mean_latency_ms": round(total_ms / len(samples), 3),
        "p95_latency_ms": round(ordered[place - 1], 3),
        "mean_cost": round(total_cost / len(samples), 6),
        "total_cost": round(float(total_cost), 6),
    }


def compare(old, new):
    """B1 to B3."""
    if old["suite_sha256"] != new["suite_sha256"]:
        raise ScenarioError("suite_sha256 differs")
    if old["samples"] != new["samples"]:
        raise ScenarioError("samples differ")
    before = {}
    for task in old["tasks"]:
        before[task["task_id"]] = task["passes"]
    result = {"regressed": [], "improved": [], "unchanged": []}
    for task in new["tasks"]:
        name = task["task_id"]
        if name not in before:
            raise ScenarioError(name + " is new")
        was = before.pop(name)
        if task["passes"] < was:
            result["regressed"].append(name)
        elif task["passes"] > was:
            result["improved"].append(name)
        else:
            result["unchanged"].append(name)
    for name in before:
        raise ScenarioError(name + " has gone")
    return result
