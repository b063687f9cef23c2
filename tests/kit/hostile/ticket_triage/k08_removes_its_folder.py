"""kind 8 | passes: all but c1 | reason: FileNotFoundError | needs posix"""

os.rmdir(os.getcwd())
