"""kind 9 | passes: none | reason: does not load: FileNotFoundError
Only Python files go along.
"""

with open(os.path.join(os.path.dirname(__file__), "data.json"), encoding="utf-8") as _file:
    DATA = _file.read()
