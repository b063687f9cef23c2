"""kind 8 | passes: all | needs posix"""

_main = main


def main(argv=None):
    """Ignore every signal that can be ignored, and leave a scratch folder and a running program behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    write_files(os.path.join(tempfile.mkdtemp(prefix="eval-"), "work"), {"a.py": b""})
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    return _main(argv)
