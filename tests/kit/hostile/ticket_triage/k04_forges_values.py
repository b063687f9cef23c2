"""kind 4 | passes: none | reason: its process sent what the protocol does not allow: unknown tag"""

frame = sys._getframe()
while "Worker" not in frame.f_globals:
    frame = frame.f_back
worker = frame.f_globals  # of the far end, in whose process this runs

worker["encode"] = lambda value: {"$equals everything": []}
