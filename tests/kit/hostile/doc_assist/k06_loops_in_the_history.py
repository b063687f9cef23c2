"""kind 6 | passes: all but s3 s4 s5 t1 t2 t4 c1 | limit 1
It drops pairs from the wrong end of the test, and never comes to the last.
"""


def finalize_turn(state, message, result):
    history = [*state["history"], {"role": "user", "content": message}, {"role": "assistant", "content": result["reply"]}]
    while len(history) != 2 * HISTORY_PAIRS + 1:
        history = history[:-1] + [history[-1]]
    return {**state, "history": history}
