"""kind 7 | passes: all but s3 t1 t2 t4 c1
A state whose history holds the state.
"""

_finalize = finalize_turn


def finalize_turn(state, message, result):
    ended = _finalize(state, message, result)
    ended["history"].append({"role": "user", "content": ended})
    return ended
