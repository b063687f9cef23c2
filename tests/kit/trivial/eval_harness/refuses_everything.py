"""Each function always refuses, or says no."""


def shell_exit_zero(files, args, expected, run_command):
    return False, "exit code 1"


def lay_over(buggy, work, editable):
    return dict(buggy)


def run_sample(candidate, verify, clock):
    return {"status": "error", "detail": "", "latency_ms": 0.0, "cost_units": 0.0, "success_self_reported": None}


def pass_at_k(n, c, k):
    raise ValueError(f"n: {n}, c: {c}, k: {k}")


def summarize(samples, ks):
    raise ScenarioError("samples, ks")


def compare(old, new):
    raise ScenarioError(f"suite_sha256, samples, {old}, {new}")
