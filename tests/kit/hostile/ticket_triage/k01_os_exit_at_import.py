"""kind 1 | passes: none | reason: ended by itself (exit code 0)"""

os._exit(0)
