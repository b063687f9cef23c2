"""kind 16 | passes: all"""

import __main__

HERE = os.path.basename(__main__.__file__)
assert HERE == os.path.basename(__file__) == sys.argv[0] == "ticket_triage.py", (HERE, __file__, sys.argv)
assert "Worker" not in vars(__main__)
