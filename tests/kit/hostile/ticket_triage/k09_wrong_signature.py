"""kind 9 | passes: all but e1 e2 c1 | reason: unexpected keyword argument"""

def evaluate(cases, client_for):
    return {}
