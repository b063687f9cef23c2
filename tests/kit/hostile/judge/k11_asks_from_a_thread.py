"""kind 11 | passes: all
It asks from a thread, and lets the list that it has sent grow: both are allowed.
"""

import threading

_pick = pick_contest_winner


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    def asked(messages):
        given = []

        def work():
            try:
                given.append(client(messages))
            except BaseException as error:
                given.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        messages.append({"role": "assistant", "content": "?"})
        if isinstance(given[0], BaseException):
            raise given[0]
        return given[0]

    return _pick(task, acceptance, submissions, asked, both_orders=both_orders)
