"""kind 9 | passes: all but e1 e2 c1 | reason: has no evaluate"""

del evaluate
