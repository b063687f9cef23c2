"""kind 9 | passes: none | reason: does not load: ZeroDivisionError"""

RATE = 1 / 0
