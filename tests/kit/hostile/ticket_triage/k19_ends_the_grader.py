"""kind 19 | passes: all | needs sandbox
It asks, stops, kills and starves the process that grades it. One success, and nothing of it passes.
"""

import resource

_grader = os.getppid()
for _way in (
    lambda: os.kill(_grader, 0),
    lambda: os.kill(_grader, 19),
    lambda: os.killpg(os.getpgid(_grader), 19),
    lambda: os.kill(_grader, 9),
    lambda: resource.prlimit(_grader, resource.RLIMIT_CPU, (1, 1)),
    lambda: os.setpriority(os.PRIO_PROCESS, _grader, 19),
    lambda: os.sched_setaffinity(_grader, {0}),
    lambda: open(f"/proc/{_grader}/mem", "r+b"),
    lambda: open(f"/proc/{_grader}/oom_score_adj", "w").write("1000"),
):
    try:
        _way()
        del parse_triage
    except OSError:
        pass
