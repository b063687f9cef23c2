"""P2: NaN passes in an answer or in a tool call: parse_constant is not set."""


_DECODER = json.JSONDecoder(object_pairs_hook=_no_name_twice)
