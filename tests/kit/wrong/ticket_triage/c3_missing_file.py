"""C3: a file that is missing leaves as an OSError."""


def read_json(path):
    """Return what a JSON file holds; ScenarioError names the file, and the line and column of a fault."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return json.load(file)
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{path}: line {error.lineno} column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # not UTF-8; too many digits; nested too deep
        raise ScenarioError(f"{path}: {error}") from error
