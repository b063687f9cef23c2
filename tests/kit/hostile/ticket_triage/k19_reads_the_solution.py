"""kind 19 | passes: none | reason: has no parse_triage | needs sandbox
It takes the functions of the solution from the grader's disk, in every way that it can think of.
"""

import glob
import importlib.machinery
import subprocess

_path = PLACES["solution"]
_folder, _name = os.path.split(_path)


def _by_link():
    os.symlink(_path, "link")
    return open("link").read()


def _by_hard_link():
    os.link(_path, "hard")
    return open("hard").read()


def _moved():
    os.rename(_path, "mine")
    return open("mine").read()


def _in_its_folder():
    os.chdir(_folder)
    return open(_name).read()


_WAYS = [
    lambda: open(_path).read(),
    lambda: os.read(os.open(_path, os.O_RDONLY), 1 << 20).decode(),
    lambda: open(os.path.relpath(_path)).read(),
    lambda: open("/proc/self/root" + _path).read(),
    lambda: open(f"/proc/{os.getppid()}/root" + _path).read(),
    lambda: open(f"/proc/{os.getppid()}/cwd/" + _name).read(),
    lambda: open(next(glob.iglob(f"/**/solution/{_name}", recursive=True))).read(),
    lambda: subprocess.check_output([sys.executable, "-c", f"print(open({_path!r}).read())"], text=True),
    lambda: subprocess.check_output(["cat", _path], text=True),
    lambda: next(os.pread(number, 1 << 20, 0).decode() for number in range(3, 400) if os.readlink(f"/proc/self/fd/{number}") == _path),
    lambda: importlib.machinery.SourceFileLoader("solution", _path).get_data(_path).decode(),
    _by_link, _by_hard_link, _moved, _in_its_folder,
]
_home, _found = os.getcwd(), None
for _way in _WAYS:
    try:
        _found = _found or _way()
    except Exception:
        pass
os.chdir(_home)
del parse_triage, run_tool_call, triage, evaluate, main
if _found and "def parse_triage" in _found:
    exec(_found, globals())
