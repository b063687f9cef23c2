"""C3: broken JSON leaves as a JSONDecodeError."""


def read_json(path):
    """Return what a JSON file holds; ScenarioError names the file, and the line and column of a fault."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return json.load(file)
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, RecursionError) as error:  # not UTF-8; too many digits; nested too deep
        raise ScenarioError(f"{path}: {error}") from error
