"""kind 19 | passes: all | needs sandbox
It leaves a file in the kit, changes one, and makes one that nobody can open. One success, and nothing of it passes.
"""

_mode = os.stat(PLACES["solution"]).st_mode


def _change_mode():
    os.chmod(PLACES["solution"], 0o400)
    if os.stat(PLACES["solution"]).st_mode == _mode:
        raise PermissionError


for _way in (
    lambda: open(PLACES["kit"] + "/written", "w"),
    lambda: open(PLACES["solution"], "a"),
    lambda: os.mkdir(PLACES["kit"] + "/made"),
    lambda: os.utime(PLACES["kit"], (5, 5)) or os.stat(PLACES["kit"]).st_mtime == 5 or open(PLACES["kit"]),
    lambda: open(os.path.dirname(os.getcwd()) + "/written", "w"),
    lambda: open("/dev/shm/written", "w"),
    _change_mode,
):
    try:
        _way()
        del parse_triage
    except OSError:
        pass
