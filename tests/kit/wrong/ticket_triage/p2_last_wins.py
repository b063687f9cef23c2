"""P2: of a key given twice the last one wins, as the decoder has it."""


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
