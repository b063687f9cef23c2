"""E1: one client is made for all cases."""


def evaluate(cases, client_for, *, categories, tools=None):
    total = fallbacks = 0
    failures = []
    client = None
    for case in cases:
        client = client or client_for(case)
        total += 1
        result = triage(case["ticket"], client, categories=categories, tools=tools)
        fallbacks += result["fallback"]
        differences = [
            f"{field}: expected {show(case['expected'][field])}, got {show(result[field])}"
            for field in ("category", "needs_human")
            if result[field] != case["expected"][field]
        ]
        if result["fallback"]:
            failures.append({"id": case["id"], "reason": "it fell back to a human"})
        elif differences:
            failures.append({"id": case["id"], "reason": "; ".join(differences)})
    correct = total - len(failures)
    return {
        "total": total,
        "correct": correct,
        "fallbacks": fallbacks,
        "schema_valid": total - fallbacks,
        "accuracy": round(correct / total, 3) if total else 0.0,
        "failures": failures,
    }
