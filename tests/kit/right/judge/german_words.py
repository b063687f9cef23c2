"""Alle Namen und Meldungen auf Deutsch; die Meldung nennt Schluessel und Kennungen, wie sie sind."""


def build_messages(instructions, data):
    try:
        inhalt = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as fehler:
        raise JudgeError(f"Das kann JSON nicht: data ({fehler})") from fehler
    inhalt = inhalt.replace("<", "\\u003c").replace(">", "\\u003e")
    return [{"role": "system", "content": instructions + "\n" + NOTICE}, {"role": "user", "content": "<data>\n" + inhalt + "\n</data>"}]


def ohne_doppelte(paare):
    woerterbuch = {}
    for schluessel, wert in paare:
        if schluessel in woerterbuch:
            raise JudgeError(f"Der Schlüssel {schluessel} steht zweimal da.")
        woerterbuch[schluessel] = wert
    return woerterbuch


def keine_konstante(name):
    raise JudgeError(f"{name} gibt es in JSON nicht (reply).")


def lies(antwort):
    if not isinstance(antwort, str):
        raise JudgeError("Die Antwort (reply) ist kein Text.")
    try:
        gelesen = json.loads(antwort.strip(), object_pairs_hook=ohne_doppelte, parse_constant=keine_konstante)
    except (ValueError, RecursionError):
        raise JudgeError("Die Antwort (reply) ist kein JSON.")
    if not isinstance(gelesen, dict):
        raise JudgeError("Die Antwort (reply) ist kein Objekt.")
    return gelesen


def pruefe_schluessel(objekt, *schluessel):
    for name in schluessel:
        if name not in objekt:
            raise JudgeError(f"Es fehlt {name}.")
    for name in objekt:
        if name not in schluessel:
            raise JudgeError(f"Zu viel: {name}")


def begruendung(objekt):
    text = objekt["reason"]
    if not isinstance(text, str) or text.strip() == "":
        raise JudgeError("Keine Begründung: reason")
    return text.strip()


def parse_verdict(raw, acceptance_ids, submission_ids):
    urteil = lies(raw)
    pruefe_schluessel(urteil, "submissions", "winner_submission_id", "reason")
    if not isinstance(urteil["submissions"], list):
        raise JudgeError("submissions ist keine Liste.")
    beurteilt = {}
    for abgabe in urteil["submissions"]:
        if not isinstance(abgabe, dict):
            raise JudgeError("In submissions steht etwas anderes als ein Objekt.")
        pruefe_schluessel(abgabe, "submission_id", "checks")
        kennung = abgabe["submission_id"]
        if not isinstance(kennung, str):
            raise JudgeError("submission_id ist kein Text.")
        if kennung not in submission_ids:
            raise JudgeError(f"Unbekannte Abgabe: {kennung}")
        if kennung in beurteilt:
            raise JudgeError(f"Zweimal beurteilt: {kennung}")
        if not isinstance(abgabe["checks"], list):
            raise JudgeError("checks ist keine Liste.")
        punkte = {}
        for punkt in abgabe["checks"]:
            if not isinstance(punkt, dict):
                raise JudgeError("In checks steht etwas anderes als ein Objekt.")
            pruefe_schluessel(punkt, "id", "reason", "pass")
            if not isinstance(punkt["id"], str):
                raise JudgeError("id ist kein Text.")
            if punkt["id"] not in acceptance_ids or punkt["id"] in punkte:
                raise JudgeError(f"Unbekannter oder doppelter Punkt: {punkt['id']}")
            if punkt["pass"] is not True and punkt["pass"] is not False:
                raise JudgeError("pass ist weder true noch false.")
            punkte[punkt["id"]] = {"id": punkt["id"], "pass": punkt["pass"], "reason": begruendung(punkt)}
        for punkt in acceptance_ids:
            if punkt not in punkte:
                raise JudgeError(f"Punkt ohne Urteil: {punkt}")
        beurteilt[kennung] = [punkte[punkt] for punkt in acceptance_ids]
    for kennung in submission_ids:
        if kennung not in beurteilt:
            raise JudgeError(f"Abgabe ohne Urteil: {kennung}")
    sieger = urteil["winner_submission_id"]
    geeignet = [kennung for kennung in submission_ids if all(punkt["pass"] for punkt in beurteilt[kennung])]
    if sieger is None and geeignet:
        raise JudgeError("winner_submission_id ist null, obwohl jemand alles erfüllt.")
    if sieger is not None and sieger not in geeignet:
        raise JudgeError("winner_submission_id nennt jemanden, der nicht alles erfüllt.")
    abgaben = [{"checks": beurteilt[kennung], "submission_id": kennung} for kennung in submission_ids]
    return {"reason": begruendung(urteil), "submissions": abgaben, "winner_submission_id": sieger}


def pruefe_kennungen(liste, name):
    gesehen = set()
    for eintrag in liste:
        if eintrag["id"].strip() == "":
            raise JudgeError(f"Leere Kennung in {name}")
        if eintrag["id"] in gesehen:
            raise JudgeError(f"Doppelte Kennung {eintrag['id']} in {name}")
        gesehen.add(eintrag["id"])
    return [eintrag["id"] for eintrag in liste]


def pick_contest_winner(task, acceptance, submissions, client, *, both_orders=False):
    if len(acceptance) == 0:
        raise JudgeError("acceptance ist leer.")
    punkte = pruefe_kennungen(acceptance, "acceptance")
    abgaben = pruefe_kennungen(submissions, "submissions")
    if len(submissions) == 0:
        return {"winner_submission_id": None, "checks": [], "reason": "Niemand hat etwas abgegeben."}
    aufgabe = {"title": task["title"], "spec": task["spec"]}
    nachrichten = build_messages(INSTRUCTIONS["contest"], {"task": aufgabe, "acceptance": acceptance, "submissions": submissions})
    urteil = parse_verdict(client(nachrichten), punkte, abgaben)
    sieger = urteil["winner_submission_id"]
    if both_orders:
        umgekehrt = []
        for abgabe in submissions:
            umgekehrt.insert(0, abgabe)
        nachrichten = build_messages(INSTRUCTIONS["contest"], {"task": aufgabe, "acceptance": acceptance, "submissions": umgekehrt})
        anderer = parse_verdict(client(nachrichten), punkte, abgaben)["winner_submission_id"]
        if sieger != anderer:
            raise JudgeError(f"Einmal gewinnt {sieger}, einmal {anderer}.")
    for abgabe in urteil["submissions"]:
        if abgabe["submission_id"] == sieger:
            return {"winner_submission_id": sieger, "checks": abgabe["checks"], "reason": urteil["reason"]}
    return {"winner_submission_id": None, "checks": [], "reason": urteil["reason"]}


def propose_arbitration(task, acceptance, submissions, reviews, comments, client):
    if len(submissions) == 0:
        raise JudgeError("submissions ist leer.")
    if len(acceptance) == 0:
        raise JudgeError("acceptance ist leer.")
    daten = {"task": {"title": task["title"], "spec": task["spec"]}, "acceptance": acceptance}
    daten["latest"] = submissions[len(submissions) - 1]
    daten["earlier"] = submissions[: len(submissions) - 1]
    daten["reviews"] = reviews
    daten["comments"] = comments
    meinung = lies(client(build_messages(INSTRUCTIONS["dispute"], daten)))
    pruefe_schluessel(meinung, "recommendation", "reason")
    if meinung["recommendation"] not in ("pay_taker", "refund_publisher"):
        raise JudgeError("recommendation ist keine der beiden.")
    return {"recommendation": meinung["recommendation"], "reason": begruendung(meinung), "binding": False}
