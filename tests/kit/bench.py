"""Measures what the kit promises about time and memory: `python tests/kit/bench.py [name ...]`.

Each measurement compares two things in one run, in turn, and prints medians and their ratio beside the budget.
To add one, write a function that prints its figures and put it into MEASUREMENTS.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc

import kit
import ticket_triage as lab

ROUNDS = 15
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


def verify():
    """An isolated verdict against the same tests in one process. Budget: 2 times, and 0.25 s on a quiet machine."""
    path = os.pathsep.join(("solution", "tests"))
    with tempfile.TemporaryDirectory() as folder:
        kept = with_compiled_modules(folder)
        functions = [
            command("verify.py", "solution", "-q", **kept),
            command("-m", "unittest", "test_ticket_triage", PYTHONPATH=path, **kept),
            command("-c", "pass", **kept),
        ]
        for function in functions:
            function()
        isolated, here, bare = in_turn(functions)
    print(f"  verify.py solution            {isolated * 1000:7.1f} ms")
    print(f"  python -m unittest, same tests{here * 1000:7.1f} ms   (an interpreter that does nothing: {bare * 1000:.1f} ms)")
    print(f"  ratio                         {isolated / here:7.2f}      budget 2")


def valid_replies():
    """Return [(reply, categories)] of the scenario that ships: those that parse_triage accepts and that are bare JSON."""
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
        yield {"id": str(number), "ticket": "text", "reply": right, "expected": {"category": "b" if number % 10 == 0 else "a", "needs_human": False}}


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
    """evaluate at 1,000 and at 100,000 cases. Budget: cost a case within 1.2 times; memory grows with the failures only."""
    few, many = 1_000, 100_000

    def hundred_times():
        for _ in range(many // few):
            evaluate_cases(few)

    small, large = in_turn([hundred_times, lambda: evaluate_cases(many)], rounds=5)
    print(f"  {few:>7,} cases  {small / many * 1e6:6.2f} us a case   {peak_memory(few) / (few / 10):6.0f} bytes a failure at the highest")
    print(f"  {many:>7,} cases  {large / many * 1e6:6.2f} us a case   {peak_memory(many) / (many / 10):6.0f} bytes a failure")
    print(f"  ratio           {large / small:6.2f}      budget 1.2")


MEASUREMENTS = {"verify": verify, "parse": parse, "evaluate": evaluate}


def main(names):
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        print(f"bench.py: no measurement {unknown[0]!r}; there are {', '.join(MEASUREMENTS)}", file=sys.stderr)
        return 2
    for name in names or MEASUREMENTS:
        print(f"{name}: {MEASUREMENTS[name].__doc__.splitlines()[0]}")
        MEASUREMENTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
