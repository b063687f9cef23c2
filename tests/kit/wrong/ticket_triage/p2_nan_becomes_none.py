"""P2: NaN and Infinity are read as null instead of being refused."""


def _null(name):
    return 0.5


_DECODER = json.JSONDecoder(object_pairs_hook=_no_name_twice, parse_constant=_null)
