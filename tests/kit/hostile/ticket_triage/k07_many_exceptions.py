"""kind 7 | passes: none | reason: its process sent what the protocol does not allow: the module's exceptions"""

import __main__

_send = __main__.Worker.send
__main__.Worker.send = lambda self, kind, **content: _send(
    self, "loaded", functions=[], values=[], errors={str(n): [str(n), str(n - 1)] for n in range(20_000)})
