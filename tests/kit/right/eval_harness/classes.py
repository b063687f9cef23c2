"""Objects that hold what belongs together; the functions are one line."""


class _Outcome:
    def __init__(self, passed, detail):
        self.passed, self.detail = passed, detail

    def pair(self):
        return bool(self.passed), str(self.detail)


class _Command:
    def __init__(self, argv, timeout_seconds):
        self.argv, self.limit = argv, timeout_seconds

    def on(self, files, run_command):
        try:
            code, output = run_command(files, self.argv, self.limit)
        except OSError as reason:
            return _Outcome(False, f"`{self.argv[0]}`: {type(reason).__name__}")
        if code is None:
            return _Outcome(False, f"[{self.limit} s are over] {output}")
        return _Outcome(code == 0, f"[{code}] {output}")


def shell_exit_zero(files, args, expected, run_command):
    """V1 to V3."""
    return _Command(args["argv"], args["timeout_seconds"]).on(files, run_command).pair()


class _Overlay(dict):
    """A dict that gives the work's content for editable paths."""

    def __init__(self, buggy, work, editable):
        super().__init__()
        for path in [*buggy, *editable]:
            source = work if path in editable else buggy
            if path in source:
                self[path] = source[path]


def lay_over(buggy, work, editable):
    """W1 to W4."""
    return dict(_Overlay(buggy, work, editable))


class _Watch:
    def __init__(self, clock):
        self.clock, self.start = clock, clock()

    def stop(self):
        self.latency_ms = round(1000 * (self.clock() - self.start), 3)


class _Sample:
    def __init__(self, watch):
        self.watch = watch
        self.status, self.detail, self.cost_units, self.success_self_reported = "error", "", 0.0, None

    def record(self):
        record = dict(vars(self), latency_ms=self.watch.latency_ms)
        del record["watch"]
        return record

    def accept(self, claim):
        """Take over the claim; return whether it is one."""
        if not isinstance(claim, dict):
            self.detail = "nothing that is a dict"
            return False
        success, cost = claim.get("success_self_reported"), claim.get("cost_units")
        if type(success) is not bool:
            self.detail = "bad success_self_reported"
        elif type(cost) not in {int, float} or not 0 <= cost <= 10**12:
            self.detail = "bad cost_units"
        else:
            self.success_self_reported, self.cost_units = success, cost
            return True
        return False


def run_sample(candidate, verify, clock):
    """S1 to S5."""
    watch = _Watch(clock)
    sample = _Sample(watch)
    accepted = False
    try:
        claim = candidate()
    except Exception as reason:
        watch.stop()
        sample.detail = repr(type(reason).__name__) + " " + str(reason)
    else:
        watch.stop()
        accepted = sample.accept(claim)
    if accepted:
        passed, sample.detail = verify()
        sample.status = ("fail", "pass")[passed]
    return sample.record()


class _Draw:
    def __init__(self, n, c, k):
        self.n, self.c, self.k = n, c, k

    def check(self):
        for name, low, high in (("n", 1, self.n), ("c", 0, self.n), ("k", 1, self.n)):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ValueError(f"{name}: {value!r}")
        return self

    def chance(self):
        return float(1 - math.comb(self.n - self.c, self.k) / math.comb(self.n, self.k))


def pass_at_k(n, c, k):
    """K1, K2."""
    return _Draw(n, c, k).check().chance()


class _Column(list):
    def mean(self):
        return sum(self) / len(self)

    def p95(self):
        return sorted(self)[math.ceil(len(self) * 95 / 100) - 1]


def summarize(samples, ks):
    """N1 to N4."""
    status, latency, cost = (
        _Column(sample[name] for sample in samples) for name in ("status", "latency_ms", "cost_units")
    )
    n, c = len(samples), status.count("pass")
    return dict(
        samples=n,
        passes=c,
        errors=status.count("error"),
        pass_rate=round(c / n, 6),
        pass_at_k={f"{k}": round(_Draw(n, c, k).check().chance(), 6) for k in ks},
        mean_latency_ms=round(latency.mean(), 3),
        p95_latency_ms=round(latency.p95(), 3),
        mean_cost=round(cost.mean(), 6),
        total_cost=round(sum(cost), 6),
    )


class _Report:
    def __init__(self, report):
        self.suite_sha256, self.samples = report["suite_sha256"], report["samples"]
        self.passes = {task["task_id"]: task["passes"] for task in report["tasks"]}

    def against(self, old):
        for field in ("samples", "suite_sha256"):
            if getattr(self, field) != getattr(old, field):
                raise ScenarioError(field)
        alone = set(self.passes).symmetric_difference(old.passes)
        if alone:
            raise ScenarioError("in one report: " + ", ".join(sorted(alone)))
        return self

    def moved(self, old, sign):
        change = lambda name: (self.passes[name] > old.passes[name]) - (self.passes[name] < old.passes[name])
        return [name for name in self.passes if change(name) == sign]


def compare(old, new):
    """B1 to B3."""
    before = _Report(old)
    now = _Report(new).against(before)
    return {"improved": now.moved(before, 1), "unchanged": now.moved(before, 0), "regressed": now.moved(before, -1)}
