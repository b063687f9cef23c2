"""What check.py looks for in a lab's documents: that its contract, its tests and its solution say the same."""

import doctest
import re

import frame
from check_source import Fault
from kit import KIT, clauses_of, imported, solution_of, task_of
from make_starter import functions_to_write

from grader.result import Mark

CLAUSE = r"^- \*\*([A-Z]\d+)\*\* "
SAME_IN_BOTH = {  # what a translation has in common with the original, word for word
    "clauses": CLAUSE,
    "headings of functions": r"^## (\d\. .*)$",
    "blocks of code": r"^```\w*\n[\s\S]*?^```$",
    "rows of tables": r"^\| (`[^|]*`) \|",
}


def check_documents(lab, workers=None):
    """The contract states what the tests name, shows the signatures and real results; a translation says the same."""
    task, again = task_of(lab), f"python tests/kit/check.py {lab}"
    name, text = task.relative_to(KIT).as_posix(), task.read_text(encoding="utf-8")
    faults = [*clause_faults(lab), *signature_faults(lab, text), *result_faults(lab, text), *example_faults(lab)]
    translated = task.with_name("TASK_cn.md")
    if translated.exists():
        faults += translation_faults(text, translated.read_text(encoding="utf-8"))
    for fault in faults:
        yield Fault(f"{name}: {fault}", again)


def clause_faults(lab):
    """Yield what is wrong with the numbers of the clauses, and where tests and contract differ."""
    stated = clauses_of(lab)
    groups = [clause[0] for clause in stated]
    numbered = [f"{group}{number}" for group in dict.fromkeys(groups) for number in range(1, groups.count(group) + 1)]
    if not stated:
        yield "it states no clause: write each as `- **A1** ...`"
    elif stated != numbered:
        yield f"the clauses of a group are numbered from 1 without a gap, got {', '.join(stated)}"
    named = {clause for test in frame.tests_on(lab, solution_of(lab)) for clause in Mark(test).sentences}
    for clause in sorted(named - set(stated)):
        yield f"{clause} is named by a test and not stated"
    for clause in sorted(set(stated) - named):
        yield f"{clause} is stated and named by no test"


def signature_faults(lab, text):
    """Yield each function to write whose heading `## 1. name(parameters) -> result` is not as the solution has it."""
    headings = re.findall(r"^## \d\. (\w+\(.*\)) -> ", text, re.MULTILINE)
    shown = [heading.partition("(")[0] for heading in headings]
    wanted = functions_to_write(lab)
    if shown != wanted:
        needed = f"it needs one heading `## 1. name(parameters) -> result` for each of {', '.join(wanted)}"
        yield f"{needed}, and has {', '.join(shown) or 'none'}"
    for heading in headings:
        if f"def {heading}:" not in solution_of(lab):
            yield f"the heading {heading} is not the solution's signature"


def result_faults(lab, text):
    """Yield each `# result` under a call in a Python block that the solution does not give."""
    names = dict(vars(imported(lab)))  # a block can use what one above it has named
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for code, line, got in results_shown(block, names):
            if line != got:
                yield f"under {code!r} it shows {line!r}, and the result is {got!r}"


def results_shown(block, names):
    """Run a block's lines with these names; yield (code, result shown, result given) for each result shown."""
    code = ""
    for line in re.sub(r"\n#  ", " ", block).splitlines():
        if not line.startswith("# "):
            exec(code, names)
            code = line
            continue
        try:
            got = repr(eval(code, names))
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
        yield code, line[2:], got
        code = ""


def example_faults(lab):
    """Yield where a docstring of the solution shows a wrong result, or a function to write shows none."""
    module = imported(lab)
    results = doctest.testmod(module, verbose=False)  # else it looks for -v
    if results.failed:
        command = f"python -m doctest solution/{lab}.py"
        yield f"{results.failed} examples in docstrings of solution/{lab}.py are wrong: {command} shows them"
    for name in functions_to_write(lab):
        if not doctest.DocTestParser().get_examples(getattr(module, name).__doc__ or ""):
            yield f"the docstring of {name} shows no example (>>> ...)"


def translation_faults(original, translated):
    """Yield where a translation does not state what the original states."""
    for what, pattern in SAME_IN_BOTH.items():
        ours, theirs = (re.findall(pattern, text, re.MULTILINE) for text in (original, translated))
        if ours != theirs:
            missing = [part for part in ours if part not in theirs] or [part for part in theirs if part not in ours]
            yield f"TASK_cn.md has other {what}: {(missing or ours)[0]!r}"
    chinese = clause_words(translated)
    for clause, words in clause_words(original).items():
        gone = words - chinese.get(clause, set())
        if gone:
            yield f"TASK_cn.md lacks code of {clause}: {', '.join(sorted(gone))}"


def clause_words(text):
    """Return {clause: the code between backticks in its text}."""
    parts = re.split(CLAUSE, text, flags=re.MULTILINE)
    ends = [re.split(r"\n(?=\n\S|```|## )", part)[0] for part in parts[2::2]]
    words = [set(re.findall(r"(?<!`)`(?! )([^`\n]+)`(?!`)", end)) for end in ends]
    translated = {"(name, what it returned)"}  # the one that is
    return dict(zip(parts[1::2], (found - translated for found in words)))
