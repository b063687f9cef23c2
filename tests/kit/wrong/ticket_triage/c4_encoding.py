"""C4: a terminal that cannot show a character makes the program fail."""


def main(argv=None):
    try:
        return run(argv)
    except (ScenarioError, ReplayError, NotImplementedError) as error:
        print(printable(f"ticket_triage.py: {error}"), file=sys.stderr)
        return 2
