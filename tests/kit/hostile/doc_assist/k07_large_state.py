"""kind 7 | passes: all but s1
A state with more in it than one line may hold.
"""

_initial = create_initial_state


def create_initial_state():
    return {**_initial(), "history": [{"role": "user", "content": "x" * 1000}] * 20_000}
