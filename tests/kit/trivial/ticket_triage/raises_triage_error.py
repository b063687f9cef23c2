"""It raises TriageError."""


def parse_triage(*args, **options):
    raise TriageError('category')


def run_tool_call(*args, **options):
    raise TriageError('category')


def triage(*args, **options):
    raise TriageError('category')


def evaluate(*args, **options):
    raise TriageError('category')
