"""Record a model: let it answer the cases of a scenario once, keep its replies, and replay them forever.

    python scenario/record.py starter scenario/ticket_triage --out my_recording \\
        --base-url http://127.0.0.1:8080/v1 --model NAME
    python starter/ticket_triage.py my_recording

It knows no lab by name: it takes what the lab's file hands it (load_scenario, evaluate, client_for, main). The target
runs in this process: record your own code, on your own machine. The API key is read from the environment and from
nowhere else. Exit codes: 0 every case is recorded; 1 some are not; 2 the command line, the target or a folder is wrong.
"""

import argparse
import concurrent.futures
import contextlib
import copy
import datetime
import filecmp
import inspect
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chat_client import (
    STOPPED,
    TICK,
    ChatClient,
    RecordError,
    UsageError,
    checked_url,
    one_line,
)  # noqa: E402 - it lies beside this file

# ---- words and limits

KEY_VARIABLE = "OPENAI_API_KEY"
SETTINGS = ("temperature", "seed", "max_tokens", "max_completion_tokens", "response_format")
CALL_LIMIT = 20  # replies to one case: a target that asks for more goes round in a loop, and each turn costs money
# by a lab's file
HANDED = ("load_scenario", "evaluate", "client_for", "main", "read_json", "ReplayClient", "ScenarioError")
OWN_FILES = ("scenario.json", "cases.json", "unfinished.json")  # of a recording; the scenario's other files are copied


# ---- the lab


def lab_file(target, scenario):
    """Return the lab's file that a target names:
    the file itself, or the one in a folder that is called as a starter is.

    Where a folder has several, the scenario's name decides: judge and judge_small are scenarios of judge.py.
    UsageError when none is meant, or when it is not clear which.
    """
    path, kit = Path(target), Path(__file__).resolve().parents[1]
    if target in ("starter", "solution") and not path.exists():
        path = kit / target
    if not path.is_dir():
        return path.resolve()
    labs, name = {file.name for file in (kit / "starter").glob("*.py")}, Path(scenario).resolve().name
    found = [file for file in sorted(path.glob("*.py")) if file.name in labs]
    meant = [file for file in found if name == file.stem or name.startswith(f"{file.stem}_")]
    if len(found) > 1 and len(meant) != 1:
        raise UsageError(
            f"{target}: which lab is {name} a scenario of? Name its file: {', '.join(file.name for file in found)}"
        )
    if not found:
        raise UsageError(f"{target}: no file of a lab is in this folder")
    return (meant if len(found) > 1 else found)[0].resolve()


def load_target(target, scenario):
    """Return the lab's module that a target names; UsageError when it does not load or lacks what a lab hands over."""
    path = lab_file(target, scenario)
    module = sys.modules[path.stem] = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.path.insert(0, str(path.parent))
    sys.dont_write_bytecode, sys.pycache_prefix = True, os.devnull  # the files as they are now, and no cache
    source = path.read_bytes()
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise UsageError(f"{target}: {failing_line(error, path)}") from error
    for name in HANDED:
        if not hasattr(module, name):
            raise UsageError(f"{target}: {path.name}: {name}: missing")
    return module


def failing_line(error, path):
    """Return what an exception of the target says, and the last line of its file that it went through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path.name} line {(lines or [getattr(error, 'lineno', 0)])[-1]}: {type(error).__name__}: {one_line(error)}"


def parts_of(case):
    """Return the parts of a case that have replies of their own: the case itself, or the dicts in one of its lists."""
    if "replies" in case:
        return [case]
    listed = [item for value in case.values() if type(value) is list for item in value]
    return [item for item in listed if type(item) is dict and "replies" in item]


def filled(case, replies):
    """Return a copy of a case with these replies, a list for each part."""
    case = copy.deepcopy(case)
    for part, own in zip(parts_of(case), replies):
        part["replies"] = own
    return case


def outcome(target, scenario, cases, client_for):
    """Return what the target's evaluate says of the cases; RecordError if it raises, or says no accuracy.

    evaluate(cases, client_for, ...) gets by name whatever else it takes that the scenario has.
    """
    taken = inspect.signature(target.evaluate).parameters.values()
    any_name = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken)
    names = {parameter.name for parameter in taken} if not any_name else set(scenario) - {"name", "min_accuracy"}
    options = {name: scenario[name] for name in names - {"cases"} if name in scenario}
    try:
        report = target.evaluate(cases, client_for, **options)
        if not 0 <= report["accuracy"] <= 1:
            raise ValueError(f"accuracy: expected a number from 0 to 1, got {report['accuracy']!r}")
        return report
    except NotImplementedError as error:
        raise UsageError(f"{Path(target.__file__).name}: {one_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise RecordError(f"the target failed: {failing_line(error, Path(target.__file__))}") from error


# ---- one case


class CaseClients:
    """The clients of one case: each asks the model, and keeps what it says with the part that it says it to.

    begun: the replies that an earlier run has paid for, a list for each part; they are given again, not asked for.
    """

    def __init__(self, case, chat, begun):
        self.case, self.chat = filled(case, [[] for _ in parts_of(case)]), chat
        self.parts = parts_of(self.case)  # kept: a target may do with the case what it likes
        self.begun = begun or [[] for _ in self.parts]
        self.replies, self.failure = [[] for _ in self.parts], None

    def client_for(self, part):
        """Return the client of a part, which is the very dict that evaluate was given."""
        number = next(
            (number for number, own in enumerate(self.parts) if own is part), 0 if len(self.parts) == 1 else None
        )
        if number is None:
            raise RecordError("the target asked for the client of something that is not a part of the case")
        return lambda messages: self.ask(number, messages)

    def ask(self, number, messages):
        own = self.replies[number]
        try:
            if self.failure:
                raise self.failure  # a target may swallow it, and ask again
            if sum(map(len, self.replies)) == CALL_LIMIT:
                raise RecordError(f"the target asked for more than {CALL_LIMIT} replies")
            own.append(self.begun[number][len(own)] if len(own) < len(self.begun[number]) else self.chat(messages))
            return own[-1]
        except RecordError as error:
            self.failure = error
            if error.for_all:
                self.chat.closing.set()
            raise

    def paid(self):
        """Return all replies that were paid for: those of this run, and of an earlier one what this did not come to."""
        return [own + begun[len(own) :] for own, begun in zip(self.replies, self.begun)]


def record_case(target, scenario, chat, case, begun=None):
    """Return (replies, None), or (what was paid for, RecordError)
    unless the target says the same when they are replayed.
    """
    clients = CaseClients(case, chat, begun)
    try:
        report = outcome(target, scenario, [clients.case], clients.client_for)
        if clients.failure:
            return clients.paid(), clients.failure
        played = []

        def replay_for(part):
            played.append(target.client_for(part))
            return played[-1]

        again = outcome(target, scenario, [filled(case, clients.replies)], replay_for)
        if again != report or sum(len(client.requests) for client in played) != sum(map(len, clients.replies)):
            return clients.replies, RecordError("the target says something else when the same replies are replayed")
        return clients.replies, None
    except RecordError as error:
        return clients.paid(), clients.failure or error


# ---- the recording


class Recording:
    """The folder that is being made.

    replies: {case id: a list of replies for each part} of the cases that are recorded.
    begun: the same for those that are not: what was paid for before they failed or were stopped.
    """

    def __init__(self, folder, source, target, about):
        self.folder, self.source, self.about = Path(folder), Path(source), about
        self.replies, self.begun, self.spent = {}, {}, {}
        self.head = target.read_json(self.source / "scenario.json")
        self.threshold = self.head.pop("min_accuracy")
        self.cases = target.read_json(self.source / "cases.json")
        for part in [part for case in self.cases for part in (case, *parts_of(case))]:
            part.pop("note", None)  # a note tells of the replies that there were

    def open(self, resume, target):
        """Make the folder, or go on with the recording in it; UsageError if that is not asked for or not possible."""
        try:
            self.folder.mkdir(exist_ok=resume)
        except FileExistsError as error:
            raise UsageError(f"--out: {self.folder} exists (--resume goes on with a recording)") from error
        if any(self.folder.iterdir()):
            self.take_over(target)

    def take_over(self, target):
        """Take the replies of the recording that is in the folder; UsageError when it is of something else."""
        unfinished = self.folder / "unfinished.json"
        read = target.read_json(unfinished) if unfinished.exists() else {}
        head = target.read_json(self.folder / "scenario.json")
        made = {**head, **head["recording"]} if type(head.get("recording")) is dict else head
        for name, value in {**self.head, **self.about}.items():
            if made.get(name) != value:
                raise UsageError(
                    f"--resume: {self.folder}: {name}: {one_line(made.get(name))} there, {one_line(value)} here"
                )
        cases = target.read_json(self.folder / "cases.json")
        if cases:
            target.load_scenario(self.folder)  # it names what is wrong in the file
        empty = {case["id"]: filled(case, [[] for _ in parts_of(case)]) for case in self.cases}
        for case in cases:
            if filled(case, [[] for _ in parts_of(case)]) != empty.get(case["id"]):
                raise UsageError(f"--resume: {self.folder}: case {case['id']}: another one than in the scenario")
            self.replies[case["id"]] = [part["replies"] for part in parts_of(case)]
        self.take_begun(unfinished, read, {case_id: len(parts_of(case)) for case_id, case in empty.items()})
        for path, copied in self.other_files():
            if copied.exists() and not filecmp.cmp(path, copied, shallow=False):
                raise UsageError(f"--resume: {copied}: another file than in the scenario")
        self.spent = made

    def take_begun(self, path, read, parts):
        """Take what unfinished.json holds; parts: {case id: how many parts it has}.
        UsageError when it is something else.
        """
        if type(read) is not dict:
            raise UsageError(f"--resume: {path}: expected an object")
        for case_id, begun in read.items():
            lists = type(begun) is list and len(begun) == parts.get(case_id)
            if not lists or not all(type(own) is list and all(type(reply) is str for reply in own) for own in begun):
                raise UsageError(
                    f"--resume: {path}: case {one_line(case_id)}: expected a list of replies for each part"
                )
        self.begun = {case_id: begun for case_id, begun in read.items() if case_id not in self.replies}

    def other_files(self):
        """Return [(file of the scenario, its place in the recording)] of what replies do not change: documents, say."""
        files = [path for path in sorted(self.source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
        beside = [path.relative_to(self.source) for path in files]
        return [
            (self.source / path, self.folder / path)
            for path in beside
            if str(path) not in OWN_FILES and path.name[:4] != "TASK"
        ]

    def kept(self):
        """Return the recorded cases with their replies, in the scenario's order."""
        return [filled(case, self.replies[case["id"]]) for case in self.cases if case["id"] in self.replies]

    def save(self, chat, min_accuracy):
        """Write the files, each whole or not at all; a lone surrogate becomes its JSON escape."""
        spent = {name: count + self.spent.get(name, 0) for name, count in chat.spent.items()}
        recording = {**self.about, "date": datetime.date.today().isoformat(), **spent}
        head = {**self.head, "min_accuracy": min_accuracy, "recording": recording}
        for path, copied in self.other_files():
            if not copied.exists():
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copied)
        for name, value in (("unfinished.json", self.begun), ("cases.json", self.kept()), ("scenario.json", head)):
            part = self.folder / f"{name}.part"
            if name == "unfinished.json" and not value:
                (self.folder / name).unlink(missing_ok=True)
                continue
            part.write_bytes(
                (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
            )
            os.replace(part, self.folder / name)

    def save_somewhere(self, chat, min_accuracy):
        """Save; where the folder takes no more, into a new one in the temporary folder.
        Raise the folder's OSError then.
        """
        try:
            self.save(chat, min_accuracy)
        except OSError as error:
            full, self.folder = self.folder, Path(tempfile.mkdtemp(prefix="recording-"))
            try:
                self.save(chat, min_accuracy)
            except OSError:
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder = full
                raise error from None
            raise UsageError(f"{full}: {error.strerror}: what is done is in {self.folder}") from error


def tell(text, end="\n"):
    """Write a line to stderr over the progress line; end "" makes it one, and only a terminal gets to see it."""
    wipe = "\r" + " " * 70 + "\r" if sys.stderr.isatty() else ""
    if end or wipe:
        print(wipe + one_line(text, 1000), end=end, file=sys.stderr, flush=True)


def settle(running, recording, chat):
    """Keep the replies of the cases that are done, and report those that failed."""
    done = [future for future in running if future.done()]
    for future in done:
        case_id = running.pop(future)
        replies, error = future.result()
        recording.begun.pop(case_id, None)
        if error is None:
            recording.replies[case_id] = replies
            continue
        if any(replies):
            recording.begun[case_id] = replies
        if str(error) != STOPPED:
            tell(f"case {case_id}: {error}")
    if done and (recording.replies or recording.begun) and not chat.closing.is_set():  # else the end saves
        try:
            recording.save(chat, recording.threshold)
        except OSError as error:  # nothing more is paid for that cannot be kept; the end tries again
            tell(f"{recording.folder}: {error.strerror}: no further case begins")
            chat.closing.set()


def record_all(target, scenario, recording, chat, jobs):
    """Record the cases that have no replies yet, `jobs` side by side.

    Ctrl-C lets the requests that are under way come in, since they are paid for;
    a second one ends them, a third the program.
    """
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            waiting = [case for case in scenario["cases"] if case["id"] not in recording.replies]
            begun = recording.begun
            running = {
                pool.submit(record_case, target, scenario, chat, case, begun.get(case["id"])): case["id"]
                for case in waiting
            }
            while running:
                try:
                    concurrent.futures.wait(running, TICK)
                    settle(running, recording, chat)
                    tokens, seconds = (
                        chat.spent["prompt_tokens"] + chat.spent["completion_tokens"],
                        time.monotonic() - began,
                    )
                    tell(
                        f"{len(recording.replies)}/{len(recording.cases)} cases, {tokens} tokens, {seconds:.0f} s",
                        end="",
                    )
                except KeyboardInterrupt:
                    interrupt(recording, chat)
        finally:
            chat.stop.set()


def interrupt(recording, chat):
    """Do what Ctrl-C asks for, the first, the second and the third time."""
    if chat.stop.is_set():  # the third one, for a target that does not end
        with contextlib.suppress(OSError, UsageError):
            recording.save_somewhere(chat, recording.threshold)
        os._exit(1)
    if chat.closing.is_set():
        chat.stop.set()
    else:
        chat.closing.set()
        tell("no further request is sent; waiting for those under way (Ctrl-C again does not wait)")


def conclude(target, recording, chat, stdout):
    """Write the accuracy that is measured, print the line that a replay prints, and return the exit code."""
    kept, total = recording.kept(), len(recording.cases)
    tell(
        f"{len(kept)} of {total} cases are recorded"
        + ("" if len(kept) == total else "; --resume goes on with the others")
    )
    if not kept and not recording.begun:
        return 1
    recording.save_somewhere(chat, recording.threshold)
    if kept:
        made = target.load_scenario(recording.folder)  # as a replay loads it: a lab may add to its cases
        report = outcome(target, made, made["cases"], target.client_for)
        recording.save_somewhere(chat, report["accuracy"])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            target.main([os.path.abspath(recording.folder)])
        print(next(line for line in printed.getvalue().splitlines() if line.startswith("accuracy=")), file=stdout)
    return 0 if len(kept) == total else 1


# ---- the command line


def refuse(message):
    raise UsageError(message)


def options_parser():
    parser = argparse.ArgumentParser(
        "record.py", description="Record a model's replies to a scenario.", allow_abbrev=False
    )
    parser.error = refuse
    add = parser.add_argument
    add("target", help="starter, solution, a folder with the lab's file, or that file")
    add("scenario", help="a folder with scenario.json and cases.json")
    add(
        "--base-url",
        required=True,
        type=checked_url,
        metavar="URL",
        help="the server, up to where /chat/completions begins",
    )
    add("--model", required=True, metavar="NAME", help="the model's name at the server")
    add("--out", required=True, metavar="FOLDER", help="the scenario folder to make")
    add("--resume", action="store_true", help="go on with the recording in FOLDER, made with the same options")
    add("--temperature", type=float, metavar="X", help="(default for this and the next: the server's)")
    add("--seed", type=int, metavar="N")
    add("--max-tokens", type=int, metavar="N", help="the longest reply, in tokens")
    add("--max-completion-tokens", type=int, metavar="N", help="the same, as OpenAI's newer models want it")
    add(
        "--json",
        dest="response_format",
        action="store_const",
        const={"type": "json_object"},
        help="ask for a JSON object",
    )
    add("--keep-cut", action="store_true", help="keep a reply that is cut at the longest, instead of failing its case")
    add("--timeout", type=float, default=120.0, metavar="SECONDS", help="for one request (default: 120)")
    add("--jobs", type=int, default=1, metavar="N", help="cases side by side (default: 1)")
    add(
        "--api-key-env",
        metavar="VARIABLE",
        help=f"the environment variable with the key (default: {KEY_VARIABLE}, if set)",
    )
    add("--licence", metavar="TEXT", help="the model's licence, to be noted in the recording")
    return parser


def command_line(argv):
    """Return what a command line says; UsageError when it is wrong."""
    given, unknown = options_parser().parse_known_args(argv)
    if unknown:  # not shown: it may be a key
        refuse("an argument is unknown (a key is read from the environment alone)")
    for name, low, high in (("timeout", 0.1, 86400), ("jobs", 1, 64)):
        if not low <= getattr(given, name) <= high:
            refuse(f"argument --{name}: expected a number from {low} to {high}")
    return given


def run(given, stdout, sleep):
    """Record what the command line asks for, and return the exit code."""
    key = os.environ.get(given.api_key_env or KEY_VARIABLE, "").strip()
    if (given.api_key_env and not key) or re.search("[^!-~]", key):
        raise UsageError("--api-key-env: expected the name of an environment variable that holds a key")
    target = load_target(given.target, given.scenario)
    settings = {name: getattr(given, name) for name in SETTINGS if getattr(given, name) is not None}
    limits = {"timeout": given.timeout, "keep_cut": given.keep_cut}
    chat = ChatClient(given.base_url, given.model, key=key, settings=settings, sleep=sleep, **limits)
    about = {
        "model": chat.model,
        "licence": given.licence,
        "base_url": given.base_url,
        "settings": settings,
        "keep_cut": chat.keep_cut,
    }
    try:
        scenario = target.load_scenario(given.scenario)
        recording = Recording(given.out, given.scenario, target, about)
        recording.open(given.resume, target)
    except target.ScenarioError as error:
        raise UsageError(str(error)) from error
    try:
        record_all(target, scenario, recording, chat, given.jobs)
        return conclude(target, recording, chat, stdout)
    finally:
        with contextlib.suppress(OSError):
            recording.folder.rmdir()  # goes only when it is empty


def main(argv=None, sleep=None):
    """Run the command line (argv: list of str, default sys.argv[1:]), and return the exit code."""
    try:
        given, stdout = command_line(argv), sys.stdout
        with contextlib.redirect_stdout(sys.stderr):  # for what the target prints
            return run(given, stdout, sleep)
    except (UsageError, RecordError, OSError, KeyboardInterrupt) as error:
        tell(f"record.py: {error or 'interrupted'}")
        return 1 if isinstance(error, (RecordError, KeyboardInterrupt)) else 2


if __name__ == "__main__":
    sys.exit(main())
