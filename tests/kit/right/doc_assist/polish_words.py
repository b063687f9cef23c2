"""Names in the language of the lab's source; a fence is taken off, and replies come back stripped."""

STATUS_DECYZJI = {"clarify": "clarification_needed", "refuse": "refused"}
KOMUNIKAT = "Odpowiedź modelu jest nieprawidłowa."


def create_initial_state():
    puste = {nazwa: [] for nazwa in ("history", "last_sources", "turn_log")}
    nieznane = {nazwa: None for nazwa in ("last_result", "last_source_turn_id", "last_source_result_id")}
    return {
        "conversation_id": uuid.uuid4().hex, "next_turn_id": 1, **puste, **nieznane,
        "tool_attempted_this_turn": False, "diagnostic_mode": False,
    }


def finalize_turn(state, message, result):
    numer = state["next_turn_id"]
    nowy = copy.copy(state)
    nowy["next_turn_id"] = numer + 1
    nowy["history"] = list(state["history"])
    nowy["history"] += [{"role": "user", "content": message}, {"role": "assistant", "content": result["reply"]}]
    del nowy["history"][: -2 * HISTORY_PAIRS]
    nowy["turn_log"] = [*state["turn_log"], dict(turn_id=numer, **{pole: result[pole] for pole in ("status", "tool")})]
    if result["status"] == "answered":
        nowy["last_result"] = dict(result)
        nowy["last_sources"] = result["cited"][:]
        nowy["last_source_turn_id"] = numer
        nowy["last_source_result_id"] = "%s:%d" % (state["conversation_id"], numer)
    return nowy


def attempt_tool(state, name, arguments, registry):
    if state["tool_attempted_this_turn"] is True:
        raise TurnError("druga próba w jednej turze")
    nowy = copy.deepcopy(state)
    nowy["tool_attempted_this_turn"] = True
    znane = isinstance(name, str) and name in registry
    if not znane:
        return nowy, "unknown_tool", f"Nie ma narzędzia: {name if isinstance(name, str) else show(name)}"
    oczekiwane = registry[name]["parameters"]
    if type(arguments) != dict:
        return nowy, "invalid_arguments", "Argumenty nie są obiektem."
    for parametr in [*oczekiwane, *arguments]:
        if parametr not in arguments:
            return nowy, "invalid_arguments", f"Brakuje: {parametr}"
        if parametr not in oczekiwane:
            return nowy, "invalid_arguments", f"Niepotrzebne: {show(parametr)}"
        if arguments[parametr].__class__ != oczekiwane[parametr]:
            return nowy, "invalid_arguments", f"Zły typ: {parametr}"
    try:
        wartosc = registry[name]["function"](nowy, **arguments)
    except Exception as blad:
        return nowy, "tool_error", f"Narzędzie {name} zawiodło ({type(blad).__name__})"
    return nowy, "ok", wartosc


def _bez_plotka(tekst):
    wiersze = tekst.strip().splitlines()
    if len(wiersze) > 2 and wiersze[0] in ("```", "```json") and wiersze[-1] == "```":
        return "\n".join(tekst.strip().split("\n")[1:-1])
    return tekst.strip()


def _pary(pary):
    widziane = {}
    for klucz, wartosc in pary:
        if klucz in widziane:
            raise ReplyError("dwa razy: " + show(klucz))
        widziane[klucz] = wartosc
    return widziane


def _nie_json(nazwa):
    raise ReplyError("to nie jest JSON: " + nazwa)


def _obiekt(raw, pola):
    """Return the object of a reply with exactly these fields; `pola` is a function of the object."""
    if not isinstance(raw, str):
        raise ReplyError("to nie jest tekst")
    try:
        obiekt = json.loads(_bez_plotka(raw), object_pairs_hook=_pary, parse_constant=_nie_json)
    except (RecursionError, ValueError) as blad:
        raise ReplyError("to nie jest jeden obiekt JSON") from blad
    if not isinstance(obiekt, dict):
        raise ReplyError("to nie jest obiekt JSON")
    for pole in pola(obiekt):
        if pole not in obiekt:
            raise ReplyError("brakuje pola " + pole)
    for pole in obiekt:
        if pole not in pola(obiekt):
            raise ReplyError("niepotrzebne pole " + show(pole))
    return obiekt


def _tekst(obiekt, pole):
    if not isinstance(obiekt[pole], str) or obiekt[pole].isspace() or obiekt[pole] == "":
        raise ReplyError("puste pole " + pole)
    return obiekt[pole].strip()


def _pola_decyzji(obiekt):
    try:
        return DECISIONS[obiekt["action"]]
    except (KeyError, TypeError):
        raise ReplyError("pole action") from None


def parse_decision(raw):
    decyzja = _obiekt(raw, _pola_decyzji)
    if "reply" in decyzja:
        decyzja["reply"] = _tekst(decyzja, "reply")
    return decyzja


def parse_answer(raw, passage_ids):
    odpowiedz = _obiekt(raw, lambda _: ("answer", "cited"))
    tekst, cytowane = _tekst(odpowiedz, "answer"), odpowiedz["cited"]
    if not isinstance(cytowane, list) or len(cytowane) < 1:
        raise ReplyError("pole cited")
    wolne = {identyfikator: True for identyfikator in passage_ids}
    for identyfikator in cytowane:
        if not isinstance(identyfikator, str) or not wolne.pop(identyfikator, False):
            raise ReplyError("pole cited: " + show(identyfikator))
    return {"answer": tekst, "cited": cytowane}


def run_turn(state, message, client, registry):
    tura = begin_turn(state, message)
    surowa = client(selector_messages(tura, message, registry))
    tura, wynik = _po_decyzji(tura, message, surowa, client, registry)
    wynik = dict(zip(("status", "reply", "tool", "cited"), wynik))
    return finalize_turn(tura, message, wynik), wynik


def _po_decyzji(tura, message, surowa, client, registry):
    try:
        decyzja = parse_decision(surowa)
    except ReplyError:
        return tura, ("invalid_reply", KOMUNIKAT, None, [])
    if decyzja["action"] in STATUS_DECYZJI:
        return tura, (STATUS_DECYZJI[decyzja["action"]], decyzja["reply"], None, [])
    narzedzie = decyzja["tool"]
    if narzedzie == "show_last_sources" and len(tura["last_sources"]) == 0:
        return tura, ("clarification_needed", "O które źródła chodzi?", None, [])
    tura, status, wartosc = attempt_tool(tura, narzedzie, decyzja["arguments"], registry)
    if status == "ok":
        return tura, _po_narzedziu(narzedzie, wartosc, message, client)
    return tura, (status, wartosc, narzedzie if status == "tool_error" else None, [])


def _po_narzedziu(narzedzie, wartosc, message, client):
    if narzedzie != "search_docs":
        return "shown", wartosc, narzedzie, []
    if not wartosc:
        return "no_source", "Dokumentacja o tym nie mówi.", narzedzie, []
    surowa = client(writer_messages(message, wartosc))
    try:
        odpowiedz = parse_answer(surowa, [fragment["id"] for fragment in wartosc])
    except ReplyError:
        return "invalid_reply", KOMUNIKAT, narzedzie, []
    return "answered", odpowiedz["answer"], narzedzie, odpowiedz["cited"]
