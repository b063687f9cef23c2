"""What goes back to a platform: a gradebook, feedback, and a class laid out for other tools."""

from pathlib import Path

from grader.files import check_writable, refuse_existing, write, write_folder
from grader.handback.feedback import feedback_files
from grader.handback.gradebook import Gradebook
from grader.handback.similarity import similarity_files
from grader.intake.roster import people_of, with_absent
from grader.intake.sheet import Sheet
from grader.intake.targets import UsageError
from grader.packing import zipped
from grader.points import plain, read_points
from grader.reports import formats
from grader.result import rows_of
from grader.text import visible


class HandBack:
    """What the options of a class say about its sheets, and what is written of them in the end."""

    def __init__(self, options, functions):
        """Read the sheets; UsageError where one cannot be read, or what is wanted cannot be written.

        functions: {name: number of tests}.
        """
        self.options, self.lab = options, options.lab
        try:
            self.points = read_points(options.points, functions)
        except ValueError as error:
            raise UsageError(f"--points: {error}") from error
        if options.grade_column is not None and not options.gradebook:
            raise UsageError("--grade-column is for --gradebook")
        self.roster = people_of(Sheet(options.roster)) if options.roster is not None else []
        self.gradebook = None
        if options.gradebook is not None:
            self.gradebook = Gradebook(options.gradebook, options.grade_column, self.lab)
            self.gradebook.refuse_too_many(plain(sum(self.points.values())))
        for name, path in self.targets():
            refuse_target(name, path)
        reports = [getattr(options, name, None) for name in formats()]
        paths = [path for _, path in self.targets()] + [path for path in reports if path]
        if len({str(Path(path).resolve()) for path in paths}) < len(paths):
            raise UsageError("two options write to the same place: expected a file of its own for each")

    def targets(self):
        """Yield (option, path) of each sheet, folder or zip to write."""
        if self.gradebook:
            yield "--gradebook", str(self.gradebook.target)
        if self.options.feedback is not None:
            yield "--feedback", self.options.feedback
        if self.options.export_for_similarity is not None:
            yield "--export-for-similarity", self.options.export_for_similarity

    def everybody(self, submissions):
        """Return the submissions, and one for each student of a sheet who handed in nothing."""
        people = [*self.roster, *(self.gradebook.people if self.gradebook and not self.roster else [])]
        return with_absent(submissions, people) if people else submissions

    def give(self, result, submissions):
        """Write what is wanted of a result; return (lines that say so, what could not be written)."""
        lines, faults = [], []
        writers = {
            "gradebook": self.give_gradebook,
            "feedback": self.give_feedback,
            "export_for_similarity": self.give_sources,
        }
        for option, write_one in writers.items():
            if getattr(self.options, option) is None:
                continue
            option = f"--{option.replace('_', '-')}"
            if not result["complete"]:
                lines.append(f"{option}: nothing is written, since not all submissions are graded")
                continue
            try:
                lines += write_one(result, submissions)
            except OSError as error:
                faults.append(f"{option}: {error.strerror or error}")
        return lines, faults

    def give_gradebook(self, result, _):
        data, lines = self.gradebook.fill(rows_of(result), plain(sum(self.points.values())))
        write(self.gradebook.target, data)
        return lines

    def give_feedback(self, result, _):
        files = feedback_files(result)
        write_files(self.options.feedback, files)
        return [f"Wrote {visible(self.options.feedback)}: feedback for {len(files) // 2}"]

    def give_sources(self, result, submissions):
        files, unread = similarity_files([each for each in submissions if isinstance(each.place, Path)], self.lab)
        write_files(self.options.export_for_similarity, files)
        left = f", without {', '.join(map(visible, unread))}" if unread else ""
        where = visible(self.options.export_for_similarity)
        return [f"Wrote {where}: {len(files) - 3} submissions{left}; its README.txt has the commands"]


def is_zip(path):
    return Path(path).suffix.lower() == ".zip"


def refuse_target(option, path):
    """UsageError where a folder or zip of this name cannot be written: told before anything is graded."""
    try:
        if not path or not Path(path).resolve().parent.is_dir():
            raise UsageError(f"{option} {path}: its folder is missing")
        if is_zip(path) and Path(path).is_dir():
            raise UsageError(f"{option} {path}: this is a folder, expected a zip")
        if option != "--gradebook" and not is_zip(path):
            refuse_existing(path)
        check_writable(path)
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}") from error


def write_files(path, files):
    """Write {name with slashes: bytes} as a new folder, or as a zip where the name says so."""
    if is_zip(path):
        write(path, zipped(files))
    else:
        write_folder(path, files)
