"""kind 11 | passes: all
Honest and awkward: tools run in a thread, everything is printed, and state is kept in dict subclasses.
"""

import collections
import threading

_attempt, _finalize = attempt_tool, finalize_turn


class State(collections.OrderedDict):
    """A dict that remembers its order; it still is what it holds."""


def attempt_tool(state, name, arguments, registry):
    done = []

    def work():
        try:
            done.append(_attempt(state, name, arguments, registry))
        except Exception as error:
            done.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print("próba:", ascii(name), done)
    if isinstance(done[0], Exception):
        raise done[0]
    return done[0]


def finalize_turn(state, message, result):
    print(result["status"], file=sys.stderr)
    return State(_finalize(state, message, result))
