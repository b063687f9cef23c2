"""kind 8 | passes: all"""

import threading
import time

for _ in range(3):
    threading.Thread(target=time.sleep, args=(7654.3,)).start()
