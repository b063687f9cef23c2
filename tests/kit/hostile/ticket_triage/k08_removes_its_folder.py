"""kind 8 | passes: all but c1 | reason: FileNotFoundError | needs posix"""

try:
    os.rmdir(os.getcwd())
except PermissionError:  # closed in, it can remove what it has made, and not the folder itself
    os.mkdir("below")
    os.chdir("below")
    os.rmdir(os.getcwd())
