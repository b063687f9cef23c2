"""Runs a submission's main as a command line: in the worker, and in the grader's own process with --debug."""

import io
import os
import sys

from grader.line.protocol import OUTPUT_LIMIT


def clear(folder, kept):
    """Remove all that an earlier run left in a folder, but the folders in kept: to make them anew takes time."""
    for place, folders, names in os.walk(folder, topdown=False):
        for path in [os.path.join(place, name) for name in names + folders]:
            if os.path.islink(path) or not os.path.isdir(path):
                os.unlink(path)
            elif not any(f"{place}{os.sep}".startswith(f"{path}{os.sep}") for place in kept):
                os.rmdir(path)


def run_main(module, argv, files, encoding, folder):
    """Run module.main(argv) in a folder with just these files {name: text}; return (exit code, stdout, stderr).

    The code is what a shell would see: sys.exit() and None are 0, a text goes to stderr and is 1.
    """
    paths = {os.path.join(folder, *name.split("/")): text for name, text in files.items()}
    clear(folder, set(map(os.path.dirname, paths)))
    for path, text in paths.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors) for errors in ("strict", "backslashreplace")]
    home, kept = os.getcwd(), (sys.stdout, sys.stderr)
    try:
        os.chdir(folder)
        sys.stdout, sys.stderr = streams
        code = module.main(argv)
    except SystemExit as leaving:
        code = leaving.code
    finally:
        sys.stdout, sys.stderr = kept
        os.chdir(home)
    if code is not None and not isinstance(code, int):
        streams[1].write(f"{code}\n")
        code = 1
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding, "replace")[-OUTPUT_LIMIT // 2 :])
    return (0 if code is None else code, *texts)
