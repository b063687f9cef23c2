"""As few words as the contract allows: details of bare values, messages of a name."""


def shell_exit_zero(files, args, expected, run_command):
    try:
        c, o = run_command(files, args["argv"], args["timeout_seconds"])
    except OSError:
        return False, args["argv"][0]
    return c == 0, f"{args['timeout_seconds'] if c is None else c}{o}"


def lay_over(buggy, work, editable):
    return {
        p: (work if p in editable else buggy)[p] for p in {**buggy, **work} if p in (work if p in editable else buggy)
    }


def run_sample(candidate, verify, clock):
    t, r, d = clock(), None, ""
    try:
        r = candidate()
    except Exception as e:
        d = type(e).__name__ + str(e)
    t = round((clock() - t) * 1000, 3)
    s, c = (r.get("success_self_reported"), r.get("cost_units")) if isinstance(r, dict) else (None, None)
    if isinstance(s, bool) and type(c) in (int, float) and 0 <= c <= 1e12:
        p, d = verify()
        p = "pass" if p else "fail"
    else:
        p, d, s, c = "error", d or "success_self_reported, cost_units", None, 0.0
    return dict(status=p, detail=d, latency_ms=t, cost_units=c, success_self_reported=s)


def pass_at_k(n, c, k):
    for m, v, a, b in ("n", n, 1, n), ("c", c, 0, n), ("k", k, 1, n):
        if type(v) is not int or v < a or v > b:
            raise ValueError(m + ":")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def summarize(samples, ks):
    n = len(samples)
    s, t, u = zip(*((x["status"], x["latency_ms"], x["cost_units"]) for x in samples))
    p = s.count("pass")
    return dict(samples=n, passes=p, errors=s.count("error"), pass_rate=round(p / n, 6),
                pass_at_k={str(k): round(pass_at_k(n, p, k), 6) for k in ks}, mean_latency_ms=round(sum(t) / n, 3),
                p95_latency_ms=round(sorted(t)[-(n // 20) - 1], 3), mean_cost=round(sum(u) / n, 6), total_cost=float(round(sum(u), 6)))  # fmt: skip


def compare(old, new):
    a, b = ({t["task_id"]: t["passes"] for t in r["tasks"]} for r in (old, new))
    for f in [f for f in ("suite_sha256", "samples") if old[f] != new[f]] + [
        t for t in {**a, **b} if t not in a or t not in b
    ]:
        raise ScenarioError(f)
    return dict(
        regressed=[t for t in b if b[t] < a[t]],
        improved=[t for t in b if b[t] > a[t]],
        unchanged=[t for t in b if b[t] == a[t]],
    )
