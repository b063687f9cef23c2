"""kind 9 | passes: none | reason: does not load: IndentationError"""

def parse_triage(raw, categories):
return {}
