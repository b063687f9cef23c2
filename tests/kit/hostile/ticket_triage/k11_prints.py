"""kind 11 | passes: all"""

import logging

logging.basicConfig(level=logging.DEBUG)
print("loading", end="")
sys.stdout.write("no newline")
sys.stderr.write("and to stderr")
_parse, _triage = parse_triage, triage


def parse_triage(raw, categories):
    print("DEBUG", raw, categories, "żółć 包 \ud800 \0 \x1b[31m")
    logging.debug("a line of %s", "logging")
    sys.stdout.buffer.write(b"\xff\xfe")
    sys.stdout.flush()
    os.write(1, b"past print")
    return _parse(raw, categories)


def triage(ticket_text, client, **options):
    def loud(messages):
        print("asking", len(messages), file=sys.stderr)
        return client(messages)

    return _triage(ticket_text, loud, **options)
