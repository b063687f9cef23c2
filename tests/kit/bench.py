"""Measures what the kit promises about time and memory: `python tests/kit/bench.py [name ...]`.

Each measurement compares two things in one run, in turn, and prints medians and their ratio beside the budget.
To add one, write a function that prints its figures and put it into MEASUREMENTS, or into ON_DEMAND when it takes long.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import kit
import ticket_triage as lab

ROUNDS = 15
CORES = 2  # that a class is graded on
LOOK = 0.1  # seconds between two looks at the memory of a process
LIMIT = 3.0  # seconds that a submission without end may take
SOLUTION = kit.solution_of("ticket_triage")
SCENARIO = kit.KIT / "scenario" / "ticket_triage"


def in_turn(functions, rounds=ROUNDS):
    """Return the median seconds of each function, called in turn so that a busy machine slows them alike."""
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, taken in zip(functions, times):
            started = time.perf_counter()
            function()
            taken.append(time.perf_counter() - started)
    return [statistics.median(taken) for taken in times]


def command(*words, **variables):
    """Return a function that runs `python WORDS` in the kit's folder to its end."""
    environment = {**os.environ, **variables}

    def run():
        subprocess.run([sys.executable, *words], cwd=kit.KIT, env=environment, check=True, capture_output=True)

    return run


def with_compiled_modules(folder):
    """Return environment variables with which Python keeps compiled modules, in a folder of the bench's own."""
    return {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}


IN_PROCESS = ("-m", "unittest", "test_ticket_triage")  # the same tests, in one process with the solution
OWN_PATH = os.pathsep.join(("solution", "tests"))


def verify():
    """An isolated verdict against the same tests in one process. Budget: 1.6 times."""
    with tempfile.TemporaryDirectory() as folder:
        kept = with_compiled_modules(folder)
        functions = [
            command("verify.py", "solution", "-q", **kept),
            command(*IN_PROCESS, PYTHONPATH=OWN_PATH, **kept),
            command("-c", "pass", **kept),
        ]
        for function in functions:
            function()
        isolated, here, bare = in_turn(functions)
    print(f"  verify.py solution            {isolated * 1000:7.1f} ms")
    print(
        f"  python -m unittest, same tests{here * 1000:7.1f} ms   (an interpreter that does nothing: {bare * 1000:.1f} ms)"
    )
    print(f"  ratio                         {isolated / here:7.2f}      budget 1.6")


def valid_replies():
    """Return [(reply, categories)] of the scenario that ships:
    those that parse_triage accepts and that are bare JSON.
    """
    scenario = lab.load_scenario(SCENARIO)
    found = []
    for case in scenario["cases"]:
        for raw in case["replies"]:
            try:
                lab.parse_triage(raw, scenario["categories"])
                json.loads(raw)
            except (lab.TriageError, ValueError):
                continue
            found.append(raw)
    return found, scenario["categories"]


def parse():
    """parse_triage on the valid replies of the scenario against bare json.loads. Budget: 2 times."""
    replies, categories = valid_replies()

    def checked():
        for _ in range(200):
            for raw in replies:
                lab.parse_triage(raw, categories)

    def bare():
        for _ in range(200):
            for raw in replies:
                json.loads(raw)

    with_checks, without = in_turn([checked, bare])
    calls = 200 * len(replies)
    print(f"  parse_triage  {with_checks / calls * 1e6:6.2f} us a reply, {len(replies)} replies")
    print(f"  json.loads    {without / calls * 1e6:6.2f} us")
    print(f"  ratio         {with_checks / without:6.2f}      budget 2")


def cases(count):
    """Yield cases of which every tenth is wrong."""
    right = json.dumps({"category": "a", "priority": 1, "summary": "s", "needs_human": False})
    for number in range(count):
        yield {
            "id": str(number),
            "ticket": "text",
            "reply": right,
            "expected": {"category": "b" if number % 10 == 0 else "a", "needs_human": False},
        }


def evaluate_cases(count):
    report = lab.evaluate(cases(count), lambda case: lambda messages: case["reply"], categories=["a", "b"])
    assert report["total"] == count


def peak_memory(count):
    """Return the bytes that evaluate takes at its highest, beyond what was there before."""
    tracemalloc.start()
    evaluate_cases(count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def evaluate():
    """evaluate at 1,000 and at 100,000 cases. Budget: cost a case within 1.2 times;
    memory grows with the failures only.
    """
    few, many = 1_000, 100_000

    def hundred_times():
        for _ in range(many // few):
            evaluate_cases(few)

    small, large = in_turn([hundred_times, lambda: evaluate_cases(many)], rounds=5)
    print(
        f"  {few:>7,} cases  {small / many * 1e6:6.2f} us a case   {peak_memory(few) / (few / 10):6.0f} bytes a failure at the highest"
    )
    print(
        f"  {many:>7,} cases  {large / many * 1e6:6.2f} us a case   {peak_memory(many) / (many / 10):6.0f} bytes a failure"
    )
    print(f"  ratio           {large / small:6.2f}      budget 1.2")


# ---- a class


def make_class(folder, count):
    """Write that many copies of the solution under names of their own; return the folder."""
    place = Path(folder, f"class-{count}")
    place.mkdir()
    for number in range(count):
        (place / f"student_{number:04}_ticket_triage.py").write_text(SOLUTION, encoding="utf-8")
    return place


def peaks(process):
    """Return MiB that a process and the largest of its children have taken at most so far (Linux), or (0, 0)."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0.0, 0.0
    return peak_of(process), max(map(peak_of, children), default=0.0)


def peak_of(process):
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    except OSError:  # it has ended
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def grade_class(place, jobs, look=None, *options):
    """Grade a class in a process of its own; return (seconds, peak MiB of the grader, peak MiB of its largest process).

    look: seconds between two looks at the memory, which take time themselves; None for no look.
    """
    result = place.with_name("result.json")
    words = [
        sys.executable,
        str(kit.KIT / "verify.py"),
        str(place),
        "--jobs",
        str(jobs),
        "--json",
        str(result),
        *options,
    ]
    environment = {**os.environ, **with_compiled_modules(str(place.with_name("compiled")))}
    started, highest = time.perf_counter(), (0.0, 0.0)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment) as process:
        while look and process.poll() is None:
            highest = tuple(map(max, highest, peaks(process.pid)))
            time.sleep(look)
        process.wait()
    seconds = time.perf_counter() - started
    graded = json.loads(result.read_text(encoding="utf-8"))["submissions"]
    assert [entry["passed"] for entry in graded] == [15] * len(list(place.iterdir()))
    return (seconds, *highest)


def show_growth(*counts):
    with tempfile.TemporaryDirectory() as folder:
        grade_class(make_class(folder, CORES), CORES)  # what is compiled now is there for the others
        for count in counts:
            seconds, grader, largest = grade_class(make_class(folder, count), CORES, LOOK)
            each = f"{seconds / count * 1000:6.0f} ms each"
            print(
                f"  {count:>5,} submissions {seconds:7.1f} s {each}; peak {grader:.0f} MiB the grader, {largest:.0f} MiB its largest process"
            )


def side_by_side():
    """Each of 60 submissions on 2 cores against the same tests in one process, then 60 and 240.

    Budget: 0.55 times; a straight line, memory flat.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = make_class(folder, 60)
        here = command(*IN_PROCESS, PYTHONPATH=OWN_PATH, **with_compiled_modules(str(place.with_name("compiled"))))
        both, alone = in_turn([lambda: grade_class(place, CORES), here], rounds=3)
    print(f"  each of 60, two at a time {both / 60 * 1000:6.0f} ms")
    print(f"  the same in one process   {alone * 1000:6.0f} ms     ratio {both / 60 / alone:.2f}, budget 0.55")
    show_growth(60, 240)


def large_class():
    """60 submissions and 1,000. Budget: a straight line, memory flat."""
    show_growth(60, 1000)


def loop():
    """A submission that loops for ever in one test.
    Budget: it costs the limit once, the other fourteen keep their verdicts.
    """
    with tempfile.TemporaryDirectory() as folder:
        endless = Path(folder, "ticket_triage.py")
        endless.write_text(f"{SOLUTION}\n\ndef main(argv=None):\n    while True:\n        pass\n", encoding="utf-8")
        result = Path(folder, "result.json")
        targets = ("solution", endless)
        grade = [
            lambda target=target: kit.run("verify.py", target, "--timeout", LIMIT, "--json", result)
            for target in targets
        ]
        whole, stopped = in_turn(grade, rounds=3)
        entry = json.loads(result.read_text(encoding="utf-8"))["submissions"][0]
    print(f"  the solution  {whole:6.2f} s")
    print(
        f"  with a loop   {stopped:6.2f} s   it costs {(stopped - whole) / LIMIT:.2f} times the limit of {LIMIT:g} s, budget 1 and a new interpreter"
    )
    print(
        f"  passed        {entry['passed']:6}     budget 14; fails: {', '.join(mark['name'] for mark in entry['marks'] if mark['verdict'] != 'passed')}"
    )


def eval_harness():
    """200 tasks, one sample each: a sample beside the two bare programs that it runs.
    Budget: 30 ms a sample over these.
    """
    import eval_harness as evals
    from harness import make_suite

    program, count = "true" if os.name == "posix" else f'"{sys.executable}" -S -c ""', 200
    words = evals.split_command(program)

    def bare():
        for _ in range(2 * count):
            subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)

    def samples(jobs):
        made = evals.EvalHarness(tasks, jobs=jobs)
        assert made.run(evals.CommandAgent(program, 60, made.programs)).totals["passes"] == count

    with tempfile.TemporaryDirectory() as folder:
        verifier = {"name": "shell_exit_zero", "args": {"argv": words, "timeout_seconds": 60}}
        make_suite(folder, [f"task{number}" for number in range(count)], verifier=verifier)
        tasks = evals.load_suite(folder)
        loading = lambda: evals.load_suite(folder)
        load, alone, one, two = (
            taken / count * 1000 for taken in in_turn([loading, bare, lambda: samples(1), lambda: samples(2)], rounds=3)
        )
    print(f"  load_suite        {load:7.2f} ms a task")
    print(f"  two bare programs {alone:7.2f} ms")
    print(f"  a sample          {one:7.2f} ms, so {one - alone:.2f} ms over them, budget 30")
    print(f"  with --jobs 2     {two:7.2f} ms")


def sandbox():
    """A verdict and a class with the sandbox and without.
    Budget: 10 ms for one verdict, 2 ms per submission in a class.
    """
    with tempfile.TemporaryDirectory() as folder:
        kept = with_compiled_modules(folder)
        words = ("verify.py", "solution", "-q")
        one = in_turn([command(*words, **kept), command(*words, "--no-sandbox", **kept)])
        place = make_class(folder, 60)
        many = in_turn(
            [lambda: grade_class(place, CORES), lambda: grade_class(place, CORES, None, "--no-sandbox")], rounds=5
        )
    for name, count, (closed, free), budget in (("one verdict", 1, one, 10), ("in a class", 60, many, 2)):
        cost = (closed - free) / count * 1000
        print(
            f"  {name:<12} {closed / count * 1000:7.1f} ms, without {free / count * 1000:7.1f} ms: {cost:5.1f} ms more, budget {budget}"
        )


MEASUREMENTS = {
    "verify": verify,
    "parse": parse,
    "evaluate": evaluate,
    "class": side_by_side,
    "loop": loop,
    "sandbox": sandbox,
    "eval_harness": eval_harness,
}
ON_DEMAND = {"class-1000": large_class}  # it takes minutes


def main(names):
    known = {**MEASUREMENTS, **ON_DEMAND}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"bench.py: no measurement {unknown[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or MEASUREMENTS:
        print(f"{name}: {known[name].__doc__.splitlines()[0]}")
        known[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
