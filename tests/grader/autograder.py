"""Makes a Gradescope autograder: one zip with the grader, ready to upload."""

import io
import zipfile

from grader.intake.handout import KIT

LEFT_OUT = {"__pycache__", "kit"}  # parts of a path that do not go into the zip

SETUP = """#!/usr/bin/env bash
# The grader needs Python 3.9 or newer and nothing else.
set -eu
command -v python3 >/dev/null || { apt-get update && apt-get install -y python3; }
"""

RUN = """#!/usr/bin/env bash
# Grades /autograder/submission; whatever happens, there is a result.
ROOT=${AUTOGRADER_ROOT:-/autograder}
mkdir -p "$ROOT/results"
RESULT="$ROOT/results/results.json"
rm -f "$RESULT"
cd "$ROOT/source" || exit 1
python3 verify.py "$ROOT/submission" --lab {lab} --gradescope "$RESULT" || true
if [ ! -s "$RESULT" ]; then
  echo '{"score": 0, "output": "The autograder failed. Tell your instructor.", "tests": []}' > "$RESULT"
fi
"""


def autograder_files(lab):
    """Return {name in the zip: bytes} of what the grader of a lab needs."""
    files = {"setup.sh": SETUP.encode(), "run_autograder": RUN.replace("{lab}", lab).encode()}
    paths = [KIT / "verify.py", KIT / "TASK.md"]
    for room in ("tests", "scenario"):
        paths += [path for path in sorted((KIT / room).rglob("*")) if path.is_file()]
    for path in paths:
        name = path.relative_to(KIT)
        if path.exists() and not LEFT_OUT & set(name.parts):
            files[name.as_posix()] = path.read_bytes()
    return files


def autograder_zip(lab):
    """Return the bytes of the zip; the same files give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in autograder_files(lab).items():
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            runs = name in ("setup.sh", "run_autograder")
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return content.getvalue()
