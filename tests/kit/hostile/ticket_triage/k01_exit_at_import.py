"""kind 1 | passes: none | reason: does not load: SystemExit: 0"""

sys.exit(0)
