"""kind 8 | passes: all | needs posix"""

if os.fork() == 0:
    os.setsid()
    os.fork()
