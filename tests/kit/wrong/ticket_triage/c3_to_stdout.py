"""C3: the line of an error goes to stdout."""


def main(argv=None):
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character gets its code
    try:
        return run(argv)
    except (ScenarioError, ReplayError, NotImplementedError) as error:
        print(printable(f"ticket_triage.py: {error}"))
        return 2
