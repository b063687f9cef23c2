"""kind 11 | passes: all"""

import functools


def _loud(function):
    @functools.wraps(function)
    def wrapped(*args):
        print("called", function.__name__, flush=True)
        os.write(1, b"written to descriptor 1\n")
        return function(*args)

    return wrapped


shell_exit_zero, lay_over, run_sample = map(_loud, (shell_exit_zero, lay_over, run_sample))
pass_at_k, summarize, compare = map(_loud, (pass_at_k, summarize, compare))
