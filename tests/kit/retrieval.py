"""Measures the search of the documentation assistant: what it finds in the manual, and how it does on a large folder.

`python tests/kit/retrieval.py` prints recall at 3, how many questions without an answer are turned away, and, for 2,000
generated documents, the seconds to index them, the milliseconds of a search (both of processor time), and the memory.
test_doc_assist_scenario.py keeps the first two from falling.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kit

import doc_assist as lab

MANUAL = kit.KIT / "scenario" / "doc_assist" / "docs"
QUESTIONS = kit.HERE / "questions" / "doc_assist.json"
DOCUMENTS, SECTIONS, WORDS = 2000, 5, 120  # of the large folder: documents, sections of each, words of each section
VOCABULARY = 20_000
SEARCHES = 200


def questions():
    """Return [{"question", "words": the manual's, others or none, "passages": ids that answer it}]."""
    return json.loads(QUESTIONS.read_text(encoding="utf-8"))


def answered():
    """Return {words: [whether a question did as it should]}:
    one of its passages among three, or nothing found for none.
    """
    corpus, found = lab.load_corpus(MANUAL), {}
    for asked in questions():
        ids = {passage["id"] for passage in lab.search(corpus, asked["question"])}
        right = bool(ids & set(asked["passages"])) if asked["passages"] else not ids
        found.setdefault(asked["words"], []).append(right)
    return found


def write_large(folder):
    """Write the large folder: made-up words, as uneven in their frequency as those of a language."""
    draw = random.Random(7)
    words = [
        "".join(draw.choice("bcdfgklmnprstvw") + draw.choice("aeiou") for _ in range(draw.randint(2, 4)))
        for _ in range(VOCABULARY)
    ]
    frequency = [1 / rank for rank in range(1, VOCABULARY + 1)]
    drawn = iter(draw.choices(words, frequency, k=DOCUMENTS * SECTIONS * (WORDS + 4)))
    text = lambda count: " ".join(next(drawn) for _ in range(count))
    for number in range(DOCUMENTS):
        path = Path(folder, str(number % 40), f"{number}.md")
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"## {text(4)}\n\n{text(WORDS)}\n\n" for _ in range(SECTIONS)), encoding="utf-8")


def memory():
    """Return the MiB that this process holds now (Linux), or 0."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def measure_large(folder):
    """Print what the large folder costs; it runs in a process of its own, so that the memory is that of the index."""
    before = memory()
    started = time.process_time()
    corpus = lab.load_corpus(folder)
    seconds = time.process_time() - started
    grown = memory() - before
    draw, taken = random.Random(11), []
    for _ in range(SEARCHES):
        query = " ".join(passage["text"].split()[draw.randrange(WORDS)] for passage in draw.sample(corpus.passages, 6))
        started = time.process_time()
        lab.search(corpus, query)
        taken.append((time.process_time() - started) * 1000)
    taken.sort()
    print(
        f"  index   {seconds:6.1f} s of processor time for {len(corpus.titles):,} documents, {len(corpus.passages):,} passages"
    )
    print(f"  search  {statistics.median(taken):6.1f} ms (median), {taken[-SEARCHES // 20]:.1f} ms (95th of 100)")
    print(f"  memory  {grown:6.0f} MiB")


def main(arguments):
    if arguments:
        measure_large(arguments[0])
        return
    found = answered()
    answerable = [right for words, rights in found.items() if words != "none" for right in rights]
    print(f"  recall at 3             {sum(answerable)} of {len(answerable)}")
    for words, rights in found.items():
        what = "turned away" if words == "none" else f"words: {words}"
        print(f"    {what:<22}{sum(rights)} of {len(rights)}")
    with tempfile.TemporaryDirectory() as folder:
        write_large(folder)
        subprocess.run([sys.executable, __file__, folder], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
