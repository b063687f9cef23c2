"""kind 6 | passes: none | reason: did not load within | limit 1"""

while True:
    pass
