"""Who is in a class: the people of a sheet, and which of them handed in what.

A sheet is a grading worksheet of Moodle, a gradebook of Canvas, a roster of GitHub Classroom or Gradescope, or any
other CSV with a column of names.
"""

import collections
import re
import unicodedata

from grader.intake.targets import Submission, UsageError

FULL, LAST, FIRST = (
    {
        "student",
        "student name",
        "full name",
        "fullname",
        "name",
        "display name",
        "participant",
        "vollständiger name",
        "nom complet",
        "nombre completo",
        "nome completo",
    },
    {
        "last name",
        "lastname",
        "surname",
        "family name",
        "nachname",
        "nom",
        "nom de famille",
        "apellido(s)",
        "apellidos",
        "cognome",
    },
    {"first name", "firstname", "given name", "vorname", "prénom", "nombre", "nome"},
)
IDS = {
    "id",
    "identifier",
    "id number",
    "student id",
    "sid",
    "user id",
    "sis user id",
    "sis login id",
    "integration id",
    "orgdefinedid",
    "username",
    "user name",
    "login",
    "email",
    "e-mail",
    "email address",
    "github_username",
    "github username",
    "matrikelnummer",
    "e-mail-adresse",
    "anmeldename",
    "adresse de courriel",
    "dirección de correo",
    "indirizzo email",
    "number",
}
PARTICIPANT = re.compile(r"\D{1,40}\s(\d{1,18})")  # "Participant 12345": Moodle, in any language
NOTHING = "nothing was handed in"
NOT_PEOPLE = ("points possible", "student, test", "test student")  # what Canvas writes where a name is

Person = collections.namedtuple("Person", "name id ids row")
# id: as exports give it; ids: all that tell the person, in small letters; row: its place in the sheet


def people_of(sheet):
    """Return the Persons of a Sheet; UsageError where no column has names or ids."""
    full, last, first = (sheet.columns(heads) for heads in (FULL, LAST, FIRST))
    numbered = participant_columns(sheet)
    ids = list(dict.fromkeys([*numbered, *(column for column in sheet.columns(IDS) if column not in full)]))
    if not (full or ids or (last and first)):
        wrong = f"expected a head such as 'Full name' or 'Student', got {sheet.some_heads(range(len(sheet.heads)))}"
        raise UsageError(f"{sheet.path}: no column has the names of students: {wrong}")
    people = []
    for row in range(len(sheet.rows)):
        name = next((sheet.value(row, column) for column in full if sheet.value(row, column)), "")
        if not name and last and first:
            name = f"{sheet.value(row, first[0])} {sheet.value(row, last[0])}".strip()
        values = [sheet.value(row, column) for column in ids if sheet.value(row, column)]
        numbers = [PARTICIPANT.fullmatch(sheet.value(row, column))[1] for column in numbered]
        if name.casefold() in NOT_PEOPLE or not (name or values):
            continue
        told = [*values, *numbers, *(value.split("@")[0] for value in values if "@" in value)]
        folded = {each.casefold() for each in told}
        people.append(Person(name or values[0], (numbers or values or [""])[0], folded, row))
    return people


def participant_columns(sheet):
    """Return the first column whose cells all are a word and another number, such as "Participant 12345"."""
    for column in range(len(sheet.heads)):
        values = [sheet.value(row, column) for row in range(len(sheet.rows))]
        if values and len(set(values)) == len(values) and all(map(PARTICIPANT.fullmatch, values)):
            words = {re.sub(r"\d", "", value) for value in values}
            if len(words) == 1 and words != {""}:
                return [column]
    return []


# ---- who is who


def keys_of(name):
    """Return what a name has in common with other ways to write it: "Lee, Anna", "Anna Lee", "leeanna", "Ánna Lee"."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char)).casefold()
    words = re.findall(r"[^\W_]+", bare)
    turned = words
    if "," in name:
        last, _, rest = bare.partition(",")
        turned = re.findall(r"[^\W_]+", rest) + re.findall(r"[^\W_]+", last)
    return {" ".join(sorted(words)), "".join(words), "".join(turned)} - {""}


def matched(submissions, people):
    """Return ({place of a submission: its Person}, places of submissions that more than one fits).

    An id tells more than a name: where the ids of the class are those of the sheet, a name is not asked. A Person
    gets one submission only.
    """
    found, several, own_ids = {}, set(), only({person.id.casefold(): person} for person in people)
    for by_id in (own_ids, only(dict.fromkeys(person.ids, person) for person in people)):
        ids = {place: each.id.casefold() for place, each in enumerate(submissions) if each.id and not found}
        told = {place: by_id[number] for place, number in ids.items() if number in by_id}
        found.update({place: person for place, person in told.items() if person})
        several.update(place for place, person in told.items() if person is None)  # more than one row has this id
    by_name = only(dict.fromkeys(keys_of(person.name) | person.ids, person) for person in people)
    several, same_ids = several - set(found), bool(found)
    for place, each in enumerate(submissions):
        if place in found or place in several or (same_ids and each.id):
            continue
        name = each.name.removesuffix(f" ({each.id})") if each.id else each.name
        fits = [by_name[key] for key in {name.casefold(), *keys_of(name)} if key in by_name]
        people_that_fit = {person.row: person for person in fits if person is not None}
        if len(people_that_fit) == 1 and None not in fits:
            found[place] = next(iter(people_that_fit.values()))
        elif fits:
            several.add(place)
    counts = collections.Counter(person.row for person in found.values())
    several.update(place for place, person in found.items() if counts[person.row] > 1)
    return {place: person for place, person in found.items() if place not in several}, sorted(several)


def only(parts):
    """Return the parts joined, with None for a key that more than one of them has."""
    joined = {}
    for part in parts:
        for key, value in part.items():
            joined[key] = None if key in joined else value
    return joined


def with_absent(submissions, people):
    """Return the submissions, and one for each Person who handed in nothing."""
    found, several = matched(submissions, people)
    there = {person.row for person in found.values()}
    if several:  # whose they are is not known, so nobody is called absent in their name
        keys = set().union(*(keys_of(submissions[place].name) | {submissions[place].id} for place in several))
        there |= {person.row for person in people if keys & (keys_of(person.name) | person.ids)}
    absent = [Submission(person.name, NOTHING, person.id, attempt=0) for person in people if person.row not in there]
    return [*submissions, *absent]
