"""The near end of the line: gives tests a stand-in for a submission that runs in a worker process.

A test imports the lab and calls it as ever. Here each call becomes a line to the worker, and the line that comes back
is untrusted input: it is bounded, parsed and checked, and no line of the submission runs in this process. Use, one
session at a time in a process:

    with Session(Path("starter/ticket_triage.py")) as session:
        sys.modules["ticket_triage"] = RemoteModule("ticket_triage", session)

Read on in conversation.py (what is said), protocol.py (how it is written), worker.py (the far end).
"""

import itertools
import sys
import tempfile
import types
from pathlib import Path

from grader.intake.handout import exceptions_of, meant_instead
from grader.intake.sources import MAIN_LAB, Unreadable, lab_of, read_sources
from grader.line.conversation import WAY_LIMIT, Conversation, Received, TimeLeft
from grader.line.errors import Lost, error_classes
from grader.line.process import NOT_STARTED, Limits, Workers
from grader.line.processes import guard_this_process
from grader.line.program import Program

MERGE_MARKS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")  # that git leaves at the beginning of a line


class Session:
    """One submission under grading: has a worker with it, a new one when one is lost, and the limits of each test."""

    def __init__(self, path, limits=None, lab=None, workers=None):
        """workers: where and how they are made; without them, as limits say."""
        self.path = Path(path)
        self.lab = lab or lab_of(self.path) or MAIN_LAB
        self.workers = workers or Workers(limits or Limits())
        self.limits = limits or self.workers.limits  # seconds and memory; where it runs is said by workers
        self.sources = {}  # {module: text}
        self.errors = error_classes(exceptions_of(self.lab))  # {name: class}: what tests catch
        self.intact = set()  # the names of those that the submission has as they were handed out
        self.functions = {}  # {name: RemoteFunction}
        self.closed_in = (
            None  # what for all of its workers have closed themselves in, words of sandbox.py; None: no worker
        )
        self.why_not = self.workers.limits.why_open()  # and why not for the rest
        self.load_failure = None  # the Lost of a submission that cannot be read or does not load
        self.lost = None  # the Lost of the running test: every further call in it meets the same
        self.time = TimeLeft(self.limits.seconds, WAY_LIMIT if self.limits.prefix else 0.0)
        self.received = Received()  # from workers, in the running test
        self.worker = None  # a WorkerProcess
        self.conversation = None  # with that worker, once the submission is loaded
        self.busy = False  # a call is running

    def __enter__(self):
        """Start a worker, which has nothing of the submission yet: that comes when all is imported that judges it."""
        try:
            self.sources = read_sources(self.path, self.lab)
            self.worker = self.workers.start()
            guard_this_process()
        except Unreadable as error:
            self.load_failure = Lost(str(error))
        except Lost as lost:
            self.load_failure = lost
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """End the worker and all that it left."""
        worker, self.worker, self.conversation = self.worker, None, None
        if worker is not None:
            worker.end()

    def begin(self):
        """Start a test: it has the time to itself, and an earlier loss is over."""
        self.break_off()
        self.lost = None
        self.received = Received()
        self.time.begin()
        if self.conversation is not None:
            self.conversation.received = self.received

    def ready(self):
        """Return the conversation with a worker that has the submission loaded; Lost where there can be none."""
        if self.conversation is None:
            lost = self.load_failure or self.lost
            if lost is not None:
                raise lost.with_traceback(None)
            self.time.stop()
            try:
                self.worker = self.worker or self.workers.start()
                self.conversation = self.load(self.worker)
            except BaseException as error:
                raise self.after(error)
            self.time.go()
        return self.conversation

    def load(self, worker):
        """Have the submission loaded by a worker; return the Conversation with it."""
        conversation = Conversation(worker, self.time, self.received, {f"{name}.py" for name in self.sources})
        conversation.begin()
        self.closed_in = [word for word in conversation.closed_in if self.closed_in is None or word in self.closed_in]
        self.why_not = self.why_not or conversation.why_not
        try:
            functions, intact = conversation.load(self.lab, self.sources, exceptions_of(self.lab), self.limits.memory)
        except Lost as lost:
            raise self.explained(lost) from lost
        self.functions = {name: self.functions.get(name) or RemoteFunction(name, self) for name in functions}
        self.intact = set(intact)
        conversation.errors = {name: kind for name, kind in self.errors.items() if name in self.intact}
        return conversation

    def explained(self, lost):
        """Return the Lost of a submission that does not load, in words that help where it is not Python."""
        if not any(name in str(lost) for name in ("SyntaxError", "IndentationError", "TabError")):
            return lost
        for number, line in enumerate(self.sources[self.lab].split("\n"), start=1):
            if line.startswith(MERGE_MARKS):
                advice = "keep one version, and delete the lines with <<<<<<<, ======= and >>>>>>>"
                return Lost(f"it does not load: merge conflict in line {number}: {advice}")
        here = not self.limits.prefix and self.limits.python == sys.executable
        return Lost(f"{lost} (this is Python {sys.version.split()[0]})" if here else str(lost), lost.place)

    def after(self, error):
        """End the worker, whose work something has stopped in the middle; return the exception to raise for that.

        Something: a Lost, Ctrl-C, or what a function of the tests lets out. A Lost is kept: further calls of the
        running test meet it too, and other tests if the submission was never loaded.
        """
        self.end()
        if isinstance(error, MemoryError):
            error = Lost(f"{NOT_STARTED}: the grader has no memory left for it")
        if isinstance(error, Lost):
            self.lost = error
            if not self.functions:
                self.load_failure = error
        return error

    def request(self, what, *contents):
        """Let the worker do one thing, a method of Conversation, and return or raise the outcome."""
        conversation = self.ready()
        self.busy = True
        try:
            value, error = what(conversation, *contents)
        except BaseException as error:
            raise self.after(error)
        finally:
            self.busy = False
        if error is not None:
            raise error
        return value

    def refuse_inside_callback(self):
        if self.busy:
            raise RuntimeError("a function of the lab was called inside a callback: its worker waits for an answer")

    def break_off(self):
        """End a worker that is in the middle of calls that were sent ahead: a new one has what is left of the time."""
        if self.conversation is not None and self.conversation.ahead:
            self.end()

    def call(self, name, args, kwargs):
        """Make a call of the submission; return or raise what it does."""
        self.refuse_inside_callback()
        if self.conversation is not None and not self.conversation.may_call(name, args, kwargs):
            self.break_off()
        return self.request(Conversation.call, name, args, kwargs)

    def send_ahead(self, name, calls):
        """Let the worker begin with calls that are made next, functools.partial objects."""
        self.refuse_inside_callback()
        self.break_off()
        self.request(Conversation.send_ahead, name, calls)

    def run_main(self, argv, files, encoding):
        """Run main beside these files {name: text}; return (exit code, stdout, stderr), or raise what it does."""
        self.refuse_inside_callback()
        self.break_off()
        return self.request(Conversation.main, argv, files, encoding)

    def attribute(self, name):
        """Return what tests find in the module under a name: a function, or an exception of the hand-out."""
        self.ready()
        if name in self.intact:
            return self.errors[name]
        if name in self.errors:
            raise Lost(f"{self.path.name}: {name} is not the exception that was handed out")
        if name not in self.functions:
            raise Lost(f"{self.path.name} has no {name}{meant_instead(self.lab, name, self.sources[self.lab])}")
        return self.functions[name]

    @property
    def printed(self):
        """What the submission has printed in the running test: [[text, number of bytes left out], ...]."""
        return self.received.printed


class RemoteFunction:
    """Stands for a function of the submission: to call it is to call that one."""

    def __init__(self, name, session):
        self.__name__ = self.__qualname__ = name
        self.session = session
        self.printed = (
            []
        )  # [[text, number of bytes left out], ...] of what the submission printed during the last call

    def __call__(self, *args, **kwargs):
        before = len(self.session.printed)
        try:
            return self.session.call(self.__name__, args, kwargs)
        finally:
            self.printed = self.session.printed[before:]

    def ahead(self, calls):
        """Let the worker begin with the calls, functools.partial objects, that are made next, in this order.

        It changes nothing but the time they take: to cross the line together is quicker than one by one. Calls from the
        first of another function on cross one by one.
        """
        calls = list(itertools.takewhile(lambda call: call.func is self, calls))
        if calls:
            self.session.send_ahead(self.__name__, calls)


class RemoteModule(types.ModuleType):
    """Stands for the submission where tests import the lab: what it holds is looked up in its session."""

    def __init__(self, name, session=None):
        super().__init__(name)
        self.__session__ = session

    def __getattr__(self, name):
        session = self.__dict__["__session__"]
        if name.startswith("__") or session is None:
            raise AttributeError(name)
        return session.attribute(name)


def command_line(lab, argv, files, encoding):
    """Run the lab's main(argv) in a temporary folder that holds files; return (exit code, stdout, stderr)."""
    if isinstance(lab, RemoteModule):
        return lab.__session__.run_main(argv, files, encoding)
    with tempfile.TemporaryDirectory() as folder:
        return Program(folder).run(lab, argv, files, encoding)
