"""C1: the accuracy is printed as a percentage."""


def run(argv):
    """Evaluate the scenario that the command line names, print the result, and return the exit code."""
    parser = CommandLine(prog="ticket_triage.py", description="Triage the tickets of a scenario folder.", allow_abbrev=False)
    parser.add_argument("scenario", help="a folder with scenario.json and cases.json")
    parser.add_argument("--min-accuracy", type=float, metavar="X", help="the accuracy to reach, 0 to 1 (default: the scenario's)")
    options = parser.parse_args(argv)
    scenario = load_scenario(options.scenario)
    threshold = scenario["min_accuracy"] if options.min_accuracy is None else options.min_accuracy
    require("command line", {"--min-accuracy": threshold}, "--min-accuracy", A_RATE)
    client_for = lambda case: ReplayClient(case["replies"], f"case {show(case['id'])}")
    report = evaluate(scenario["cases"], client_for, categories=scenario["categories"], tools=scenario["tools"])
    counts = "correct={correct}/{total} fallbacks={fallbacks}".format(**report)
    lines = [f"accuracy={report['accuracy']:.1%} {counts} min_accuracy={threshold}"]
    lines += [f"{failure['id']}: {failure['reason']}" for failure in report["failures"]]
    print("\n".join(map(printable, lines)))
    return 0 if report["accuracy"] >= threshold else 1
