"""kind 7 | passes: all | needs linux
Processes that leave the group and hold the line; a bounded number.
"""

import subprocess

for _ in range(5):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(7654.3)"], start_new_session=True, close_fds=False)
