"""kind 4 | passes: all but w2 w3 a1 a2
It asks something else than the lab does, in the constants that it was provided with.
"""

INSTRUCTIONS = {kind: "Who wins?" for kind in INSTRUCTIONS}
