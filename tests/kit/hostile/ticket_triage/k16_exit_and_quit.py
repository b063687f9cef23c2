"""kind 16 | passes: all
exit() and quit() end main with their code, as in a program.
"""

_main, _parse = main, parse_triage


def main(argv=None):
    code = _main(argv)
    (quit if code == 1 else exit)(code)


def parse_triage(raw, categories):
    try:
        return _parse(raw, categories)
    except TriageError:
        try:
            exit(3)
        except SystemExit as leaving:
            assert leaving.code == 3
        raise
