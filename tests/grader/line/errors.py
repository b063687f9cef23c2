"""Exceptions of a submission on this side of the line: what the worker says of one becomes an object that tests can catch."""

from grader.line.worker import ERRORS_LIMIT, TEXT_LIMIT, Malformed

BUILTIN_ERRORS = {  # those that a test may look for; a StopIteration, for one, would end a loop of the tests
    kind.__name__: kind
    for kind in (AttributeError, IndexError, KeyError, LookupError, NotImplementedError, RuntimeError, TypeError, ValueError)
}

DESCRIPTION = {"class": str, "message": str, "lab": list, "builtin": str}  # of an exception, as it crosses


class SubmissionError(Exception):
    """An exception of the submission's: its class by name, its message, and the last line of its own, (file, number) or None."""

    place = None

    def __str__(self):
        return self.args[0] if self.args else ""


def class_of(name, bases):
    """Return an exception class of that name, which may be any text; Malformed when the bases do not fit together."""
    try:
        return type(name if name.isidentifier() else ascii(name), bases, {})
    except TypeError as error:
        raise Malformed("exception classes that cannot be") from error


def raised_error(reply, errors, foreign, files):
    """Return the exception to raise here for one that the worker describes; Malformed when it does so wrongly."""
    for field, kind in DESCRIPTION.items():
        if type(reply.get(field)) is not kind:
            raise Malformed(f"an exception is not described as it should be: {field}")
    same = reply.get("same")
    if same is not None:
        if type(same) is not int or not 0 <= same < len(foreign):
            raise Malformed("an exception that was never raised here")
        return foreign[same]
    known = next((errors[name] for name in reply["lab"] if type(name) is str and name in errors), None)
    if known is None:
        base = BUILTIN_ERRORS.get(reply["builtin"])
        known = class_of(reply["class"][:80], (SubmissionError, base) if base else (SubmissionError,))
    error = known.__new__(known)
    error.args = (reply["message"][:TEXT_LIMIT],)
    place = reply.get("place")
    if type(place) is list and list(map(type, place)) == [str, int] and place[0] in files:
        error.place = tuple(place)
    return error


def error_classes(described):
    """Return {name: class} for {name: names of it and of its bases, nearest first}; the first is the class's own name."""
    if type(described) is not dict or len(described) > ERRORS_LIMIT:
        raise Malformed("the module's exceptions")
    for names in described.values():
        if type(names) is not list or not names or len(names) > ERRORS_LIMIT or any(type(name) is not str for name in names):
            raise Malformed("the module's exceptions")
    classes = {}
    for name, (own, *bases) in sorted(described.items(), key=lambda item: len(item[1])):  # bases before what is built on them
        if own != name and own in classes:
            classes[name] = classes[own]
        else:
            classes[name] = class_of(name, (*[classes[base] for base in bases if base in classes], SubmissionError))
    return classes
