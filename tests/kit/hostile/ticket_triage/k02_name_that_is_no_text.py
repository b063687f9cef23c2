"""kind 2 | passes: all
A name in the module is a number: an honest loop over names stumbles over it.
"""

globals()[5] = len
