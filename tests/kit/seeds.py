"""Grades every right submission at 200 seeds and every wrong one at 20: python tests/kit/seeds.py [LAB]

The data of the tests is renamed by the seed, and no verdict may change with it. It takes many minutes; check.py tries
each right submission at three seeds, and of the wrong ones every fifth at another seed. Exit 1 when a verdict is not as
it should be.
"""

import os
import sys
import time

import check
import frame
from kit import LABS, pool, solution_of

RIGHT_SEEDS = 200


def right_fault(lab, name, text):
    """Return the lines of a right submission's failures at all seeds."""
    marks = {seed: check.not_passed(frame.graded_here(lab, text, seed)) for seed in range(RIGHT_SEEDS)}
    return [f"{name}, seed {seed}: {check.failure_line(mark)}" for seed, failed in marks.items() for mark in failed]


def wrong_fault(lab, row, text):
    """Return the lines of what is wrong with a wrong submission's refusals at all seeds."""
    marks = {seed: frame.graded_here(lab, text, seed) for seed in range(check.WRONG_SEEDS)}
    said = {seed: check.complaint(row.clause, refused, most=None) for seed, refused in marks.items()}
    return [f"{row}, seed {seed}: {line}" for seed, line in said.items() if line]


def try_lab(lab, workers):
    """Grade the right and wrong submissions of a lab at all seeds; print the figures, and return how many faults."""
    started = time.monotonic()
    right = {f"solution/{lab}.py": solution_of(lab)}
    right.update((path.name, frame.framed_file(lab, path)) for path in frame.parts("right", lab))
    wrong = check.wrong_of(lab)
    faults = [workers.map(right_fault, [lab] * len(right), right, right.values())]
    faults.append(workers.map(wrong_fault, [lab] * len(wrong), *zip(*wrong)) if wrong else [])
    lines = [line for found in faults for each in found for line in each]
    for line in lines:
        print(line)
    counts = f"{len(right)} right ones at {RIGHT_SEEDS} seeds, {len(wrong)} wrong ones at {check.WRONG_SEEDS}"
    took = f"{time.monotonic() - started:.0f} s"
    print(f"{lab}: {counts}: {len(lines)} verdicts are not as they should be ({took})", flush=True)
    return len(lines)


def main(labs):
    unknown = [lab for lab in labs if lab not in LABS]
    if unknown:
        print(f"seeds.py: expected a lab ({', '.join(LABS)}), got {unknown[0]}", file=sys.stderr)
        return 2
    with pool(os.cpu_count() or 2) as workers:
        return 1 if sum([try_lab(lab, workers) for lab in labs or LABS]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
