"""kind 7 | passes: none | reason: names that are not texts"""

frame = sys._getframe()
while "Worker" not in frame.f_globals:
    frame = frame.f_back
worker = frame.f_globals  # of the far end, in whose process this runs

send = worker["Worker"].send
worker["Worker"].send = lambda self, *contents: send(self, "loaded", [], [[str(number)] for number in range(20_000)])
