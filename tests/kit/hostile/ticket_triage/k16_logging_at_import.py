"""kind 16 | passes: all"""

import logging

logging.basicConfig(stream=sys.stdout, level="DEBUG")
logging.info("loaded")
_parse, _main = parse_triage, main


def parse_triage(raw, categories):
    logging.debug("a reply")
    return _parse(raw, categories)


def main(argv=None):
    logging.disable()
    try:
        return _main(argv)
    finally:
        logging.disable(0)
