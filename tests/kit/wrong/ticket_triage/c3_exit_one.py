"""C3: a wrong scenario exits with 1."""


def main(argv=None):
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character gets its code
    try:
        return run(argv)
    except (ScenarioError, ReplayError, NotImplementedError) as error:
        print(printable(f"ticket_triage.py: {error}"), file=sys.stderr)
        return 1
