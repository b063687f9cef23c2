"""kind 9 | passes: none | reason: does not load: ModuleNotFoundError: No module named 'requests_of_nobody': only the standard library"""

import requests_of_nobody
