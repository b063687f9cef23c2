"""A small coding agent for the eval harness: it asks a model for each file that it may edit, and writes the reply.

    python scenario/eval_harness/agent.py --base-url http://127.0.0.1:8080/v1 --model NAME < goal

It works in the current folder: the goal is on stdin, EVAL_EDITABLE has the paths to edit, one per line. Any server
that speaks OpenAI's chat completions will do; the key is in OPENAI_API_KEY. Exit code 0: every file was written.
The last line that it prints, cost_units=N, counts tokens.
"""

import argparse
import os
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from chat_client import ChatClient, RecordError, UsageError  # noqa: E402 - it lies in scenario/

SHOWN_LIMIT = 20_000  # characters of one file in a message
FENCE = re.compile(r"```[^\n`]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
ORDER = (
    "You mend a small program. Below are an issue and the files of the program. "
    "Reply with the whole new text of {path}, in one Markdown fence, and nothing else."
)


def read_text(path):
    """Return the text of a file, or None when it is missing or is not text."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def messages_for(path, goal):
    """Return the conversation that asks for one file: the order, the issue, and every text file of the folder."""
    parts = [f"The issue:\n{goal.strip()}"]
    found = (place for place in Path().rglob("*") if place.is_file() and "__pycache__" not in place.parts)
    for place in sorted(found):
        text = read_text(place)
        if text is not None and len(text) <= SHOWN_LIMIT:
            parts.append(f"{place.as_posix()}:\n```\n{text.rstrip()}\n```")
    return [{"role": "system", "content": ORDER.format(path=path)}, {"role": "user", "content": "\n\n".join(parts)}]


def file_in(reply):
    """Return the text of the only fence in a reply; ValueError when there is none, or several: which is the file?"""
    found = FENCE.findall(reply)
    if len(found) != 1:
        raise ValueError(f"expected a reply with one Markdown fence, got {len(found)}")
    return found[0]


def work(client, goal, paths):
    """Ask for each file and write it; return whether all were written. A line for each that was not."""
    written = 0
    for path in paths:
        try:
            text = file_in(client(messages_for(path, goal)))
        except (RecordError, ValueError) as error:
            print(f"{path}: {error}")
            continue
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode("utf-8", "replace"))
        written += 1
    return written == len(paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--base-url", required=True, help="where /chat/completions is, such as http://127.0.0.1:8080/v1"
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--temperature", type=float, help="above 0, samples differ from one another")
    parser.add_argument("--max-tokens", type=int, help="tokens that one reply may have")
    options = parser.parse_args()
    settings = {"temperature": options.temperature, "max_tokens": options.max_tokens}
    settings = {name: value for name, value in settings.items() if value is not None}
    try:
        client = ChatClient(
            options.base_url, options.model, key=os.environ.get("OPENAI_API_KEY", ""), settings=settings
        )
    except UsageError as error:
        print(f"agent.py: {error}")
        return 2
    goal = sys.stdin.buffer.read().decode("utf-8")
    done = work(client, goal, os.environ.get("EVAL_EDITABLE", "").splitlines())
    print(f"cost_units={client.spent['prompt_tokens'] + client.spent['completion_tokens']}")
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
