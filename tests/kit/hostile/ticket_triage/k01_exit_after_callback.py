"""kind 1 | passes: none | reason: ended by itself (exit code 0)
The import is fine until the first client has answered; then every load ends at once.
"""

def parse_triage(raw, categories):
    os._exit(0)


def run_tool_call(call, tools):
    for tool in tools.values():
        try:
            tool["function"](**call["arguments"])
        finally:
            os._exit(0)
    os._exit(0)


def triage(ticket_text, client, **options):
    client([])
    os._exit(0)


def evaluate(cases, client_for, **options):
    client_for(next(iter(cases), None))
    os._exit(0)
