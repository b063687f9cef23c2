"""A queue at the counter, as a linked list."""


class Person:
    def __init__(self, name, behind=None):
        self.name, self.behind = name, behind


def names(first):
    """Return the names of a queue from its first person (None: nobody waits) to its last."""
    found, person = [], first
    while person.behind is not None:
        found.append(person.name)
        person = person.behind
    return found
