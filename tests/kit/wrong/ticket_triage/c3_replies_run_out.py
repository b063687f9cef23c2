"""C3: replies that run out leave as an exception."""


def main(argv=None):
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character gets its code
    try:
        return run(argv)
    except (ScenarioError, NotImplementedError) as error:
        print(printable(f"ticket_triage.py: {error}"), file=sys.stderr)
        return 2
