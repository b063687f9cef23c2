"""kind 19 | passes: all | needs posix
What an honest program may do with the standard library works in the sandbox as without it.
"""

import asyncio
import faulthandler
import locale
import multiprocessing
import pathlib
import shutil
import sqlite3
import ssl
import subprocess
import tempfile
import threading
import zoneinfo

assert zoneinfo.available_timezones() is not None
assert ssl.create_default_context()
with sqlite3.connect("base.db") as _base:
    _base.execute("create table words (word)")
locale.setlocale(locale.LC_ALL, "C")
with tempfile.TemporaryDirectory() as _folder, tempfile.NamedTemporaryFile(dir=_folder) as _file:
    shutil.copy2(_file.name, "copy")
    faulthandler.enable(_file)
    faulthandler.disable()
pathlib.Path("copy").touch()
os.remove("copy")
assert subprocess.check_output([sys.executable, "-c", "import json, ssl; print(1)"]).strip() == b"1"
_thread = threading.Thread(target=json.dumps, args=[1])
_thread.start()
_thread.join()
assert asyncio.run(asyncio.sleep(0, 5)) == 5
_near, _far = multiprocessing.Pipe()
_child = multiprocessing.get_context("fork").Process(target=_far.send, args=[7])
_child.start()
assert _near.recv() == 7
_child.join()
