"""C3: broken JSON is told without its line and column."""


def read_json(path):
    """Return what a JSON file holds; ScenarioError names the file, and the line and column of a fault."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return json.load(file)
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{path}: no JSON") from error
    except (ValueError, RecursionError) as error:  # not UTF-8; too many digits; nested too deep
        raise ScenarioError(f"{path}: {error}") from error
