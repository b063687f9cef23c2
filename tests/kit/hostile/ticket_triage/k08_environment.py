"""kind 8 | passes: all | needs posix"""

os.environ.clear()
os.environ.update(PYTHONPATH="/nowhere", PYTHONSTARTUP="/nowhere", PATH="")
os.umask(0o777)
os.umask(0o022)
sys.argv.clear()
