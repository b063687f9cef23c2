"""What a test is worth: one point, or its share of what --points gives to its function."""

import re

MOST = 1_000_000  # points of one function
PART = re.compile(r"(\w{1,80})=([0-9]{1,7}(?:\.[0-9]{1,4})?)")


def read_points(text, functions):
    """Return {function: points}, of all functions, in the order of {function: number of its tests}.

    text: such as "parse_triage=30,triage=40"; a function that it does not name keeps one point per test.
    ValueError says what is wrong.
    """
    given = {}
    for part in text.split(",") if text.strip() else ():
        match = PART.fullmatch(part.strip())
        if not match or float(match[2]) > MOST:
            raise ValueError(f"{part.strip()!r}: expected FUNCTION=NUMBER, such as {next(iter(functions))}=30")
        if match[1] not in functions or match[1] in given:
            wrong = "is named twice" if match[1] in given else f"is not one of {', '.join(functions)}"
            raise ValueError(f"{match[1]} {wrong}")
        given[match[1]] = plain(float(match[2]))
    points = {name: given.get(name, count) for name, count in functions.items()}
    if not sum(points.values()):
        raise ValueError("all points are 0: at least one function needs some")
    return points


def plain(number):
    """Return a number with two decimals at most, as an int where it is whole."""
    number = round(number, 2)
    return int(number) if number == int(number) else number


def points_of(points, marks, passed):
    """Return the points that marks with the verdict `passed` are worth: of each function its share, rounded once."""
    total = 0
    for name, worth in points.items():
        verdicts = [mark["verdict"] == passed for mark in marks if mark["function"] == name]
        total += plain(worth * sum(verdicts) / len(verdicts)) if verdicts else 0
    return plain(total)


def worth_of(points, marks):
    """Return for each mark the points of its test, which need not be whole: functions share theirs evenly."""
    functions = [mark["function"] for mark in marks]
    return [plain_share(points[name], functions.count(name)) for name in functions]


def plain_share(points, count):
    share = points / count
    return int(share) if share == int(share) else share
