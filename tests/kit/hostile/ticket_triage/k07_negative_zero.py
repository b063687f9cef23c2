"""kind 7 | passes: all but e2"""

_evaluate = evaluate


def evaluate(cases, client_for, **options):
    """-0.0 is equal to 0.0 and is not the same."""
    report = _evaluate(cases, client_for, **options)
    return {name: -0.0 if value == 0 and type(value) is float else value for name, value in report.items()}
