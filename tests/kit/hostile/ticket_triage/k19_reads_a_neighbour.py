"""kind 19 | passes: none | reason: has no parse_triage | needs sandbox
It takes its functions from another submission: from its file, or from the folder of another worker.
"""

import glob

del parse_triage, run_tool_call, triage, evaluate, main
for _path in [PLACES["neighbour"], *glob.glob(os.path.join(os.path.dirname(os.getcwd()), "*", "*.py"))]:
    try:
        exec(open(_path).read(), globals())
        break
    except OSError:
        continue
