"""Everything, for --resume and programs."""

import json


def report(result):
    """Yield the result itself, one submission a line; read_result reads it back."""
    head = {key: value for key, value in result.items() if key != "submissions"}
    yield json.dumps(head)[:-1] + ', "submissions": ['
    for number, submission in enumerate(result["submissions"]):
        yield (",\n" if number else "\n") + json.dumps(submission)
    yield "\n]}\n"
