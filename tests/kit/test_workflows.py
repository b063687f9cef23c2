"""The workflows are YAML that says what their readers want. They have not run on the service."""

import shlex
import unittest

from kit import HERE, KIT

import verify

try:
    import yaml
except ImportError:  # .ci/run installs it: the standard library has no reader of YAML
    yaml = None

FOLDER = KIT / ".github" / "workflows"


@unittest.skipIf(yaml is None, "PyYAML is not installed")
class Workflows(unittest.TestCase):
    def load(self, name):
        return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))

    def test_the_kit_is_tested_with_the_command_of_the_authors_page(self):
        command = (HERE / "README.md").read_text(encoding="utf-8")
        self.assertIn(f"$ {self.load('kit.yml')['jobs']['test']['steps'][-1]['run']}\n", command)

    def test_classroom_has_the_names_that_the_reporter_wants(self):
        workflow = self.load("classroom.yml")
        self.assertEqual(workflow["name"], "Autograding Tests")
        self.assertEqual(list(workflow["jobs"]), ["run-autograding-tests"])
        *_, grade, report = workflow["jobs"]["run-autograding-tests"]["steps"]
        self.assertRegex(report["with"]["runners"], r"^[a-zA-Z0-9]+$")
        self.assertEqual(grade["id"], report["with"]["runners"])
        self.assertEqual(list(report["env"]), [f"{grade['id'].upper()}_RESULTS"])
        self.assertIn(f"steps.{grade['id']}.outputs.result", report["env"][f"{grade['id'].upper()}_RESULTS"])
        command, = [line for line in grade["run"].splitlines() if line.startswith("python3 verify.py ")]
        options = verify.command_line().parse_args(shlex.split(command.partition(" > ")[0])[2:])
        self.assertEqual(options.target, ["starter"])
        self.assertIn(f"$(cat {options.classroom})", grade["run"])


if __name__ == "__main__":
    unittest.main()
