"""kind 2 | passes: all but t1 t2 t4 c1 | reason: SkipTest
What a runner takes for a skipped test comes out between two questions to the client.
"""

import unittest


def run_turn(state, message, client, registry):
    client(selector_messages(state, message, registry))
    raise unittest.SkipTest("no model here")
