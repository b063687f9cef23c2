"""kind 15 | passes: all | needs posix
Where the grader clears up there is a link: from the folder of its process, and inside.
"""

import shutil

_evaluate = evaluate


def evaluate(cases, client_for, **options):
    home = os.getcwd()
    for target, name in (("/nowhere/at/all", "a"), ("..", "b"), ("/", "c")):
        if not os.path.lexists(name):
            os.symlink(target, name)
    return _evaluate(cases, client_for, **options)


_main = main


def main(argv=None):
    code = _main(argv)
    home = os.environ.get("TMPDIR") or os.environ["TEMP"]
    for entry in os.listdir(home):
        if os.path.islink(os.path.join(home, entry)):
            os.unlink(os.path.join(home, entry))
    return code
