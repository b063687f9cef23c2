"""kind 4 | passes: all but b1 b2
It gives up the notice, in the constant that it was provided with.
"""

NOTICE = "Reply with one JSON object."
