"""What the kit's own tests share: where the kit is, and its modules on the path."""

import subprocess
import sys
from pathlib import Path

KIT = Path(__file__).resolve().parents[2]
for room in (KIT, KIT / "tests", KIT / "solution"):
    if str(room) not in sys.path:
        sys.path.insert(1, str(room))


def run(*arguments, cwd=KIT, **options):
    """Run `python ARGUMENTS` and return the finished process with its output as text."""
    command = [sys.executable, *map(str, arguments)]
    options = {"capture_output": True, "encoding": "utf-8", "timeout": 300, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run(command, cwd=cwd, check=False, **options)
