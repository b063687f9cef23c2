"""kind 13 | passes: all but p1 p2 p3 p4 p5 p6 t1 | reason: bytes in one test"""

def parse_triage(raw, categories):
    return {str(number): number for number in range(60_000)}
