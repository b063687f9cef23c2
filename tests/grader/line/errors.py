"""What can come in the place of a value: the exceptions of a submission, and the loss of its worker.

Which exceptions a lab has is known from the hand-out, so each class here is made before a worker says anything. What a
worker says of an exception is only looked up, compared and shown.
"""

import builtins

from grader.line.protocol import NAME_LIMIT, TEXT_LIMIT, Malformed


class Lost(BaseException):
    """The submission gave no verdict: it did not load, its process ended, or it ran past a limit.

    It is not an Exception: nothing in a test that catches those holds it up.
    """

    def __init__(self, reason, place=None):
        """place: (file, line number) of the submission, or None."""
        super().__init__(reason)
        self.place = place


class SubmissionError(Exception):
    """An exception of the submission. Its text is the message; one that is not of the lab goes by its name only."""

    name_of_class = ""  # in the submission
    place = None  # (file, line number) of the submission's own deepest line, or None

    def __str__(self):
        return self.args[0] if self.args else ""


BUILTIN_ERRORS = {  # those that a test may look for; a StopIteration, for one, would end a loop of the tests
    kind.__name__: type(kind.__name__, (SubmissionError, kind), {})
    for kind in (
        AttributeError,
        IndexError,
        KeyError,
        LookupError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
    )
}


def error_classes(bases):
    """Return {name: class} of a lab's exceptions, which the hand-out has as {name: names of bases}, bases first."""
    classes = {}
    for name, names in bases.items():
        own = [classes.get(base) or getattr(builtins, base) for base in names]
        if not any(issubclass(base, SubmissionError) for base in own):
            own.insert(0, SubmissionError)
        classes[name] = type(name, tuple(own), {})
    return classes


def raised_error(fields, classes, foreign, files):
    """Return the exception to raise here for one that the worker describes; Malformed when there was none like that.

    classes: of the lab, by name. foreign: the exceptions that functions of the tests have raised in this call.
    """
    same, place = fields["same"], fields["place"]
    is_place = place and list(map(type, place)) == [str, int] and place[0] in files and place[1] > 0
    place = tuple(place) if is_place else None
    if same is not None:
        if not 0 <= same < len(foreign):
            raise Malformed("an exception that was never raised here")
        foreign[same].place = place  # where the submission called the function that raised it
        return foreign[same]
    kind = classes.get(fields["lab"]) or BUILTIN_ERRORS.get(fields["builtin"]) or SubmissionError
    error = kind.__new__(kind)
    error.args = (fields["message"][:TEXT_LIMIT],)
    name = fields["class"][:NAME_LIMIT]
    error.name_of_class = name if name.isidentifier() else ascii(name)
    error.place = place
    return error


def nearest_builtin(kind):
    """Return the name of the built-in exception that a class is, or is built on."""
    return next(base.__name__ for base in kind.__mro__ if vars(builtins).get(base.__name__) is base)
