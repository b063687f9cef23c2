"""kind 3 | passes: all
A verdict of classes of its own, which are built on dict, list and str, is worth what it holds.
"""

_parse = parse_verdict


class Record(dict):
    __slots__ = ()


class Items(list):
    pass


class Text(str):
    pass


def rebuilt(value):
    if isinstance(value, dict):
        return Record((Text(key), rebuilt(item)) for key, item in value.items())
    if isinstance(value, list):
        return Items(map(rebuilt, value))
    return Text(value) if isinstance(value, str) else value


def parse_verdict(raw, acceptance_ids, submission_ids):
    return rebuilt(_parse(raw, acceptance_ids, submission_ids))
