"""kind 9 | passes: none | reason: does not load: ImportError: cannot import name"""

from json import parse_reply
