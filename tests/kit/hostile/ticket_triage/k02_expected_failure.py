"""kind 2 | passes: all but e1 e2 c1 | reason: AssertionError"""

import unittest


@unittest.expectedFailure
def evaluate(cases, client_for, **options):
    raise AssertionError
