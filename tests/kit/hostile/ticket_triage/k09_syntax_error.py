"""kind 9 | passes: none | reason: does not load: SyntaxError"""

def parse_triage(raw, categories)
    return {}
