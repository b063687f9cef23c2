"""kind 7 | passes: none | reason: does not load: MemoryError"""

EATEN = bytearray(1 << 40)
