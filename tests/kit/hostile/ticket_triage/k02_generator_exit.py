"""kind 2 | passes: all but e1 e2 c1 | reason: GeneratorExit"""

def evaluate(cases, client_for, **options):
    raise GeneratorExit
