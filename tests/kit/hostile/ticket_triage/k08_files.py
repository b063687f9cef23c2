"""kind 8 | passes: all | needs posix
Files, links and a folder two thousand deep in the working folder and in TMPDIR.
"""

import tempfile

_home = os.getcwd()
for _place in (_home, tempfile.mkdtemp()):
    os.chdir(_place)
    os.symlink("/", "root")
    for _ in range(2000):
        os.mkdir("d")
        os.chdir("d")
        open("f", "w").close()
    os.chdir(_place)
    os.mkdir("closed")
    open("closed/f", "w").close()
    os.chmod("closed", 0)
os.chdir(_home)
