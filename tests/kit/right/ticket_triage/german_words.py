"""Words in German, umlauts in messages and names; match by loops over a table of types; recursion instead of a loop."""

FELDER = {"category": str, "priority": int, "summary": str, "needs_human": bool}


def ablehnen(feld, grund, fehler=None):
    raise (fehler or TriageError)("Ungültig: %s – %s" % (feld, grund))


def _einmal(paare):
    gefunden = {}
    for schluessel, wert in paare:
        if schluessel in gefunden:
            ablehnen(schluessel, "doppelt angegeben")
        gefunden[schluessel] = wert
    return gefunden


def entschlüsseln(raw):
    if type(raw) != str:
        ablehnen("Antwort", "kein Text")
    text = raw.strip()
    if text.startswith("```json\n") and text.endswith("```"):
        text = text[8:-3]
    elif text.startswith("```\n") and text.endswith("```"):
        text = text[4:-3]
    try:
        objekt = json.loads(text, object_pairs_hook=_einmal, parse_constant=lambda wort: ablehnen(wort, "kein JSON"))
    except (ValueError, RecursionError):
        ablehnen("Antwort", "kein JSON")
    if type(objekt) != dict:
        ablehnen("Antwort", "kein Objekt")
    return objekt


def parse_triage(raw, categories):
    objekt = entschlüsseln(raw)
    for feld in objekt:
        if feld not in FELDER:
            ablehnen(feld, "unbekannt")
    for feld, typ in FELDER.items():
        if feld not in objekt:
            ablehnen(feld, "fehlt")
        if type(objekt[feld]) != typ:
            ablehnen(feld, "falscher Typ " + type(objekt[feld]).__name__)
    zusammenfassung = objekt["summary"].strip()
    if len(zusammenfassung) > 120 or not zusammenfassung:
        ablehnen("summary", "Länge %d" % len(zusammenfassung))
    if objekt["priority"] not in (1, 2, 3, 4):
        ablehnen("priority", "von 1 bis 4")
    if objekt["category"] not in tuple(categories):
        ablehnen("category", "unbekannte Kategorie")
    return dict(objekt, summary=zusammenfassung)


def run_tool_call(call, tools):
    if type(call) != dict:
        ablehnen("Aufruf", "kein Objekt", ToolCallError)
    for schluessel in call:
        if schluessel not in ("tool", "arguments"):
            ablehnen(schluessel, "unbekannt", ToolCallError)
    for schluessel in ("tool", "arguments"):
        if schluessel not in call:
            ablehnen(schluessel, "fehlt", ToolCallError)
    if type(call["tool"]) != str:
        ablehnen("Werkzeug", "kein Name", ToolCallError)
    if call["tool"] not in tools.keys():
        ablehnen(call["tool"], "kein Werkzeug heißt so", ToolCallError)
    werkzeug, werte = tools[call["tool"]], call["arguments"]
    if type(werte) != dict:
        ablehnen("arguments", "kein Objekt", ToolCallError)
    for name in list(werte) + list(werkzeug["parameters"]):
        if name not in werte:
            ablehnen(name, "fehlt", ToolCallError)
        if name not in werkzeug["parameters"]:
            ablehnen(name, "unbekannt", ToolCallError)
        if type(werte[name]) != werkzeug["parameters"][name]:
            ablehnen(name, "falscher Typ", ToolCallError)
    return call["tool"], werkzeug["function"](**werte)


def triage(ticket_text, client, *, categories, tools=None, max_attempts=2, max_tool_calls=3):
    def rückfall(abgelehnt, gelaufen):
        return {
            "fallback": True, "tool_calls": gelaufen, "attempts": abgelehnt, "needs_human": True,
            "summary": ticket_text.strip()[:120], "priority": None, "category": None,
        }

    def weiter(verlauf, abgelehnt, gelaufen):
        if abgelehnt == max_attempts:
            return rückfall(abgelehnt, gelaufen)
        raw = client(verlauf)
        verlauf = verlauf + [{"content": raw, "role": "assistant"}]
        try:
            objekt = entschlüsseln(raw)
            if "tool" in objekt:
                if tools is None:
                    ablehnen("tool", "hier gibt es keine Werkzeuge", ToolCallError)
                if gelaufen == max_tool_calls:
                    return rückfall(abgelehnt, gelaufen)
                name, ergebnis = run_tool_call(objekt, tools)
                nachricht = {"role": "tool", "name": name, "content": json.dumps(ergebnis)}
            else:
                return {**parse_triage(raw, categories), "attempts": abgelehnt + 1, "tool_calls": gelaufen, "fallback": False}
        except TriageError as fehler:
            nachricht = {"role": "user", "content": f"Bitte noch einmal. {fehler}!"}
            return weiter(verlauf + [nachricht], abgelehnt + 1, gelaufen)
        return weiter(verlauf + [nachricht], abgelehnt, gelaufen + 1)

    return weiter(build_messages(ticket_text, categories, tools), 0, 0)


def evaluate(cases, client_for, *, categories, tools=None):
    anzahl = richtig = rückfälle = 0
    fehler = []
    for fall in cases:
        anzahl += 1
        ergebnis = triage(fall["ticket"], client_for(fall), categories=categories, tools=tools)
        if ergebnis["fallback"]:
            rückfälle += 1
            fehler.append({"id": fall["id"], "reason": "Rückfall (fallback): ein Mensch muss schauen"})
            continue
        falsch = [feld for feld in ("category", "needs_human") if ergebnis[feld] != fall["expected"][feld]]
        if falsch:
            gründe = [f"{feld}: {fall['expected'][feld]} erwartet, {ergebnis[feld]} erhalten" for feld in falsch]
            fehler.append({"id": fall["id"], "reason": "\n".join(gründe)})
        else:
            richtig += 1
    return {
        "total": anzahl, "correct": richtig, "fallbacks": rückfälle, "schema_valid": anzahl - rückfälle,
        "accuracy": round(richtig / anzahl, 3) if anzahl else 0.0, "failures": fehler,
    }
