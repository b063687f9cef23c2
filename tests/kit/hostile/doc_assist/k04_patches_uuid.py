"""kind 4 | passes: all but s1 | reason: the ids are equal
Every id is the same, and well made.
"""

ONE = uuid.uuid4()
uuid.uuid4 = lambda: ONE
