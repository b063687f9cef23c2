"""Grades a submission of a lab, or a class: `python verify.py starter`. Exit 0 when all tests pass.

A submission runs in a process of its own, with limits; no line of it runs here.
tests/README.md says what that promises.
"""

import argparse
import contextlib
import os
import signal
import sys
from pathlib import Path

READS_THE_KIT = __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler
if READS_THE_KIT:  # so far there is nothing to clear up: Ctrl-C ends this at once, without a traceback
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))

KIT = Path(__file__).resolve().parent
sys.path.insert(0, str(KIT / "tests"))

from grader.guard import Guard  # noqa: E402 - it stands in tests/
from grader.intake.archives import unpacked_prefix  # noqa: E402
from grader.intake.sources import LABS, MAIN_LAB, lab_of  # noqa: E402
from grader.intake.targets import UsageError, find_targets  # noqa: E402
from grader.line.process import Limits, folder_prefix  # noqa: E402
from grader.line.session import Session  # noqa: E402
from grader.options import ALL_LABS, REPORTS, command_line, drawn_seed  # noqa: E402
from grader.place import PlaceError, check_kit, check_python, check_room, may_be_the_place  # noqa: E402
from grader.reports import format_of  # noqa: E402
from grader.text import told_of, visible  # noqa: E402

PASSED, FAILED, USAGE_ERROR, SIGNALLED = 0, 1, 2, 128  # exit codes; the number of the signal is added to the last
FOR_ONE = ("watch", "hint", "all", "k", "q", "debug", "reset")  # options that a class or a report has no use for
# options of a class, and of a report
FOR_MANY = ("resume", "points", "roster", "gradebook", "grade_column", "feedback", "export_for_similarity")
FOR_ONE_LAB = ("watch", "k", "debug", "reset", *FOR_MANY)  # options that several labs at once have no use for


# ---- one submission


def grade_alone(path, options, limits, progress=None):
    """Grade one submission with what a student is told besides; return its Report."""
    if options.debug:
        from grader.grading import grade_here

        return grade_here(path, options.k, options.lab, limits.seed)
    with Session(path, limits, options.lab) as session:  # the worker starts while the tests are imported
        from grader.grading import grade_session
        from grader.intake.handout import changed_files, differences

        changed = changed_files() if KIT in path.resolve().parents else []  # looked up while the worker starts
        report = grade_session(session, options.k, progress, alone=True)
    if may_be_the_place(report.as_dict()):
        check_room()
    source = report.sources.get(report.lab, "")
    if not report.load_failure:
        report.notes, edits = differences(report.lab, source)
        changed = edits + changed
    report.notes = report.notes + changed
    if changed:
        report.notes.append(
            "TASK.md says what to leave as it is. --reset gives you the original file, and keeps yours."
        )
    return report


def show_alone(report, options, screen):
    from grader.screen.screen import count_line, next_lines, report_lines

    if options.q:
        show(screen, screen.paragraph(f"{report.path.as_posix()}: {count_line(report)}"))
        return
    lines = report_lines(report, screen, options.all, options.hint)
    if report.complete and not options.k and not options.debug and report.path.resolve().parent == KIT / "starter":
        with contextlib.suppress(OSError, UnicodeError):  # without TASK.md, as it was handed out, no other lab is known
            lines += [
                "",
                *(
                    row
                    for line in next_lines(report, (KIT / "TASK.md").read_text(encoding="utf-8"))
                    for row in screen.paragraph(line)
                ),
            ]
    if options.debug:
        lines.append("It ran in this process, for debugging and without a time limit: this is not a grade.")
    show(screen, lines)


def grade_and_show(path, options, limits, screen):
    """Grade one submission and show it, at each save with --watch; return its last Report."""
    from grader.screen.screen import Progress, watch_lines

    if not options.watch:
        progress = Progress("tests", patience=1.0)
        report = grade_alone(path, options, limits, progress)
        progress.clear()
        if not report.marks:
            raise UsageError(f"-k {options.k}: no test has this in its name, function or clauses")
        show_alone(report, options, screen)
        return report
    from grader.screen.watch import watch

    progress = Progress("tests", patience=0.0)

    def draw(report, hint, every):
        progress.clear()
        screen.clear()
        screen.show(watch_lines(report, screen, every or options.all, hint or options.hint))

    return watch(path, lambda path, look: grade_alone(path, options, limits, look), draw, progress)


def reset(target, lab):
    from grader.intake import handout

    path = Path(target)
    if not path.exists() and (KIT / target).exists():
        path = KIT / target
    if path == Path("starter") and not path.exists():  # the whole folder was deleted
        path = KIT / target
        path.mkdir()
    if path.is_dir():
        if not (path / f"{lab}.py").exists() and path.resolve() != KIT / "starter":  # there it may have been deleted
            raise UsageError(f"--reset {path}: no {lab}.py is in this folder")
        path = path / f"{lab}.py"
    if path.resolve().parent == KIT / "solution":
        raise UsageError("--reset is for your own file, not for solution/")
    try:
        kept = handout.reset(path)
    except ValueError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"--reset {path}: {reason_of(error)}") from error
    say(f"{path} is the original again" + (f"; what it was is in {kept}" if kept else ""))
    return PASSED


# ---- a class, and reports


def reason_of(error):
    """Return why a file could not be read or written, in the system's words."""
    return getattr(error, "strerror", None) or str(error)


def earlier_submissions(options, limits):
    """Return the submissions that --resume names, when the same tests, limits and seed made them: of the result, and of
    what is kept beside it of a run that was ended. The seed is theirs, unless --seed gives one;
    without --resume it is drawn.
    """
    if options.seed is None:
        limits.seed = drawn_seed()
    if not options.resume:
        return []
    from grader.cohort import kit_digest
    from grader.result import kept_beside, read_result

    known, made_by = [], (options.lab, kit_digest(options.lab), limits.as_dict())
    kept = kept_beside(options.resume)
    for path in [place for place in (options.resume, kept) if Path(place).exists()] or [options.resume]:
        try:
            result = read_result(path)
        except (ValueError, OSError) as error:
            raise UsageError(f"--resume {path}: {reason_of(error)}") from error
        if options.seed is None:
            options.seed = limits.seed = result["seed"]
        if (result["lab"], result["kit"], result["limits"]) == made_by and result["seed"] == limits.seed:
            known += result["submissions"]
        else:
            complain(
                f"--resume {path}: another kit, another seed or other limits made that result, so all are graded again"
            )
    return without_freer(known, options, limits)


def without_freer(known, options, limits):
    """Return the submissions of an earlier result but for those that could reach more then than they can now."""
    from grader.cohort import look_at_place

    now = set(look_at_place(limits, options.lab)[1]) if known and not limits.why_open() else set()
    # who did not run is graded again anyway
    kept = [entry for entry in known if entry["reason"] or now <= set(entry["closed_in"])]
    if len(kept) < len(known):
        complain(
            f"--resume {options.resume}: {len(known) - len(kept)} of its submissions were less closed in, "
            "so they are graded again"
        )
    return kept


def wanted_reports(options, submissions):
    """Return {name: path} of the reports to write;
    UsageError where one cannot be written, before anything is graded.
    """
    from grader.files import check_writable

    wanted = {name: getattr(options, name) for name in REPORTS if getattr(options, name) is not None}
    for name, path in wanted.items():
        if not path or list(wanted.values()).count(path) > 1 or path.endswith(".py"):
            raise UsageError(f"--{name} {path}: expected a file of its own, and not a Python file")
        if path == "-":
            raise UsageError(f"--{name} -: expected the name of a file; the output holds the table")
        if not os.path.exists(path) and not Path(path).resolve().parent.is_dir():  # on Windows, nul is in none
            raise UsageError(f"--{name} {path}: its folder is missing")
        if Path(path).is_dir():
            raise UsageError(f"--{name} {path}: this is a folder, expected a file")
        try:
            check_writable(path)
        except OSError as error:
            raise UsageError(f"--{name} {path}: {reason_of(error)}") from error
        if for_one(name) and len(submissions) != 1:
            raise UsageError(f"--{name}: this report is of one submission, and there are {len(submissions)}")
    return wanted


def for_one(name):
    """Return whether a report is of one submission only."""
    return getattr(format_of(name), "FOR_ONE", False)


def keeper(options):
    """Return what keeps submissions while they are graded, or None without --json; UsageError where it cannot."""
    from grader.result import Kept, kept_beside

    path = options.json and Path(options.json)
    if not path or (path.exists() and not path.is_file()):  # a pipe has nothing beside it
        return None
    kept = kept_beside(path)
    if kept.exists() and not (options.resume and kept_beside(options.resume) == kept):
        raise UsageError(
            f"{kept} holds what a run that was ended has graded: add --resume {path} to go on, or remove it"
        )
    return Kept(path)


def grade_many(submissions, left_out, options, limits, screen):
    """Grade a class; write the reports and show it. Exit code 0 when every submission passes."""
    from grader.cohort import functions_in
    from grader.handback import HandBack

    back = HandBack(options, functions_in(options.lab))
    submissions = back.everybody(submissions)
    wanted, known, keep = wanted_reports(options, submissions), earlier_submissions(options, limits), keeper(options)
    # now: later it could be a file that a submission has rewritten
    writers = {name: format_of(name).report for name in wanted}
    from grader.cohort import Stop, grade_class, look_at_place
    from grader.screen.screen import Progress
    from grader.screen.table import class_lines

    fault = (options.exec or options.python) and look_at_place(limits, options.lab)[0]
    if fault:
        raise UsageError(f"{' '.join([*limits.prefix, limits.python])}: {fault}")
    progress = Progress("submissions")
    with Stop() as stop:  # also while reports are written
        stop.tell = progress.waits_for
        result = grade_class(
            submissions, limits, options.jobs, options.lab, known, left_out, progress, keep, stop, back.points
        )
        progress.clear()
        faults = [stop.fault] * bool(stop.fault) + write_reports(result, wanted, writers, keep)
        told, more = back.give(result, submissions)
    taken = [f"Taken over from {visible(options.resume)}: {stop.taken} of {len(submissions)}"] if options.resume else []
    show(screen, class_lines(result, screen) + taken + told)
    faults += more
    if faults:
        raise UsageError("; ".join(faults))
    if not result["complete"]:
        return SIGNALLED + (stop.asked or signal.SIGINT)
    return PASSED if all(entry["passed"] == entry["total"] for entry in result["submissions"]) else FAILED


def write_reports(result, wanted, writers, keep):
    """Write the reports, {name: path}; return what could not be written, and why.
    With the result written, nothing is kept.
    """
    from grader.files import write

    faults = []
    for name, path in wanted.items():
        try:
            write(path, writers[name](result))
        except (ValueError, OSError) as error:
            faults.append(f"--{name} {path}: {reason_of(error)}")
        else:
            if name == "json" and keep:
                keep.remove()
    return faults


def make_autograder(path, lab):
    from grader.files import write
    from grader.packing import autograder_zip

    if Path(path).suffix.lower() != ".zip":
        raise ValueError("expected a name that ends with .zip, as Gradescope takes it")
    write(path, autograder_zip(lab))
    return f"wrote {path}: upload it as the autograder of a programming assignment"


def make_handout(path, _):
    from grader.packing import make_handout

    files, left_out = make_handout(path)
    return f"wrote {path}: {len(files)} files. Left out: {', '.join(left_out) or 'nothing'}"


MAKERS = {"make_autograder": make_autograder, "make_handout": make_handout}  # options that grade nothing


def make(name, options):
    """Write what an option makes, and say so."""
    path, option = getattr(options, name), f"--{name.replace('_', '-')}"
    if options.target or options.lab == ALL_LABS:
        raise UsageError(f"{option} takes no target, and one lab")
    try:
        say(MAKERS[name](path, options.lab or MAIN_LAB))
    except (ValueError, OSError) as error:
        raise UsageError(f"{option} {path}: {reason_of(error)}") from error
    return PASSED


# ---- the command


def refuse_useless(names, options, why):
    """Refuse options that are given and of no use."""
    given = [name for name in names if getattr(options, name) not in (None, False, "")]
    if given:
        raise UsageError(f"{'-' if len(given[0]) == 1 else '--'}{given[0]} is for {why}")


def grade_lab(options, limits):
    """Grade the submission or the class that the targets name, of one lab; return the exit code."""
    from grader.screen.screen import Screen

    wanted = [name for name in REPORTS if getattr(options, name) is not None]
    submissions, left_out, is_class = find_targets(options.target, options.lab, any(map(for_one, wanted)))
    screen = Screen()
    if is_class or wanted or any(getattr(options, name) not in (None, "") for name in FOR_MANY):
        refuse_useless(FOR_ONE, options, "one submission, and without a report")
        return grade_many(submissions, left_out, options, limits, screen)
    report = grade_and_show(submissions[0].place, options, limits, screen)
    if report.stopped:
        return SIGNALLED + signal.SIGINT
    return PASSED if report.complete and not options.k and not options.debug else FAILED


def grade_every_lab(options, limits):
    """Grade the targets once for each lab; return the highest exit code."""
    refuse_useless([*FOR_ONE_LAB, *REPORTS], options, f"one lab, and not for --lab {ALL_LABS}")
    every = [argparse.Namespace(**{**vars(options), "lab": lab}) for lab in LABS]
    for each in every:
        find_targets(each.target, each.lab)  # what is missing is told before anything is graded
    code = PASSED
    for each in every:
        if not options.q and each is not every[0]:
            say("")
        code = max(code, grade_lab(each, limits))
        if code > SIGNALLED:
            break
    return code


def lab_meant(named):
    """Return the lab that targets are of; named:
    for each Python file among them its lab, or None where its name tells none.
    """
    labs = list(dict.fromkeys(filter(None, named)))
    if len(labs) > 1:
        raise UsageError(f"the files are of several labs ({', '.join(labs)}): name those of one lab at a time")
    return labs[0] if labs else MAIN_LAB


def run(arguments):
    """Do what the command line says; return the exit code."""
    check_python()
    check_kit()
    options = command_line(__doc__).parse_args(arguments)
    makers = [name for name in MAKERS if getattr(options, name) is not None]
    if makers:
        return make(makers[0], options)
    options.target = options.target or ["starter"]
    named = [lab_of(Path(target)) for target in options.target if target.endswith(".py")]
    options.lab = options.lab or lab_meant(named)
    if options.reset and len(options.target) == 1 and options.lab != ALL_LABS:
        return reset(options.target[0], options.lab)
    if options.fresh and options.seed is not None:
        raise UsageError("--fresh draws a seed and --seed gives one: choose")
    if options.fresh:
        options.seed = drawn_seed()
    try:
        limits = Limits(
            options.timeout, options.memory, options.exec, options.python, options.seed or 0, not options.no_sandbox
        )
    except ValueError as error:
        raise UsageError(f"--exec {options.exec}: {error}") from error
    check_room()
    with Guard(folder_prefix(os.getpid()), unpacked_prefix()):
        return grade_every_lab(options, limits) if options.lab == ALL_LABS else grade_lab(options, limits)


def say(text):
    """Print a line, in which a name that a stranger has made does no harm."""
    print(visible(text))


def complain(text):
    """Print a line on stderr; where that is full, the exit code has to do."""
    try:
        print(visible(text), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def show(screen, lines):
    """Write lines, where somebody reads them."""
    try:
        screen.show(lines)
    except BrokenPipeError:  # who reads the output has seen enough
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise UsageError(f"the output cannot be written: {reason_of(error)}") from error


def silence(stream):
    """Let what is still written to a stream go nowhere: Python writes the rest at the end, and fails once more."""
    with contextlib.suppress(OSError, ValueError):  # it is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def open_streams():
    """Open what this process was started without: else a file of the grader would become its output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))


class Signalled(KeyboardInterrupt):
    """SIGTERM or SIGHUP has come. Like Ctrl-C it ends what was started, and no test takes it for its own failure."""


def leave(number, frame):
    raise Signalled(number)


def main(arguments=None):
    open_streams()
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
            signal.signal(getattr(signal, name), leave)
    try:
        code = run(arguments)
        sys.stdout.flush()
        return code
    except (UsageError, PlaceError) as error:
        complain(f"verify.py: {error}")
        return USAGE_ERROR
    except BrokenPipeError:  # nobody reads what --watch or a short message says
        silence(sys.stdout)
        return FAILED
    except KeyboardInterrupt as error:
        return SIGNALLED + (error.args[0] if isinstance(error, Signalled) else signal.SIGINT)
    except OSError as error:
        silence(sys.stdout)
        complain(f"verify.py: {error}")
        return USAGE_ERROR
    except Exception as error:  # a fault of this program: exit code 1 would say that a test fails
        if "--debug" in (sys.argv if arguments is None else arguments):  # then it may be the submission's
            raise
        complain(f"verify.py: it cannot go on: {told_of(error)}")
        return USAGE_ERROR


if __name__ == "__main__":
    if READS_THE_KIT:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
