"""Every command of docs/guides/compose-review-apply.md runs, in a project of a user."""

import re
import shlex

import pytest
import yaml

from tests.integration.test_docs import FILES, ROOT
from tests.integration.test_terminal import talk
from tests.interrupted_runs import leave_write_started
from tests.project import pulsus

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

PAGE = (ROOT / "docs/guides/compose-review-apply.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(?:console|sh)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line.removeprefix("$ ") for block in BLOCKS for line in block.splitlines()]
CONFIRM = ("Run it? [y/N]: ", "y\n")


class Reader:
    """A reader of the page who types its commands. `RUN` is the id of the latest run."""

    def __init__(self, folder):
        self.folder = folder
        self.left = list(COMMANDS)
        for name, text in FILES.findall(PAGE):
            (folder / name).write_text(text, encoding="utf-8")

    def latest(self):
        return pulsus(self.folder, "runs", "list", "--output", "json").json["runs"][0]["run_id"]

    def words(self, command):
        """Return a command of the page as words, and cross it off."""
        assert command in COMMANDS
        self.left = [line for line in self.left if line != command]
        words = shlex.split(command)[1:]
        return [self.latest() if word == "RUN" else word for word in words]

    def type(self, command, code=0):
        done = pulsus(self.folder, *self.words(command))
        assert done.code == code, done.out + done.err
        return done.out + done.err

    def confirm(self, command):
        """Type a command, and answer yes before its write."""
        code, shown = talk(self.folder, self.words(command), CONFIRM)
        assert code == 0, shown

    def value(self):
        return yaml.safe_load((self.folder / "app.yaml").read_text(encoding="utf-8"))["workers"]

    def stop_in_the_write(self, found):
        """Leave the latest run as a kill in its write does, with `found` in the file."""
        leave_write_started(self.folder, "s2")
        (self.folder / "app.yaml").write_text(f"port: 80\nworkers: {found}\n", encoding="utf-8")
        assert pulsus(self.folder, "runs", "resume", self.latest()).code == 4
        assert "in doubt" in pulsus(self.folder, "runs", "show", self.latest()).out


@pytest.fixture
def reader(tmp_path):
    (tmp_path / ".git").mkdir()
    assert pulsus(tmp_path, "init").code == 0
    return Reader(tmp_path)


def test_a_plan_is_composed_reviewed_applied_resumed_and_undone_as_the_guide_says(reader):
    first, show, check, apply = COMMANDS[:4]
    reader.type(first)
    assert "next        pulsus apply plan.yaml" in reader.type(show)
    assert "1 write still to do" in reader.type(check)
    assert reader.value() == 2
    shown = re.sub(r"run-\S+:|\d+ ms", "", reader.type(apply))
    written = re.sub(r"run-\S+:|\d+ ms", "", re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0])
    assert written.strip() in shown
    assert reader.value() == 8

    reader.type("pulsus plan --file workers.yaml -o reviewed.yaml --input path=app.yaml")
    reader.type("pulsus apply reviewed.yaml --yes")
    assert reader.value() == 4

    assert pulsus(reader.folder, "apply", "plan.yaml").code == 4
    listed = reader.type("pulsus runs list")
    assert re.search(r"waiting .*\n +waits for a person", listed)
    assert "confirm it: pulsus runs resume" in listed
    assert "apr-" not in listed
    assert "s2  waiting" in reader.type("pulsus runs show RUN")
    reader.type("pulsus runs resume RUN --yes")
    assert reader.value() == 8

    reader.stop_in_the_write(99)
    reader.type("pulsus runs resume RUN --settle s2=done")
    assert reader.value() == 99
    reader.stop_in_the_write(98)
    reader.type("pulsus runs resume RUN --settle s2=again --yes")
    assert reader.value() == 8

    reader.type("pulsus runs undo RUN -o undo.yaml")
    assert "1 write still to do" in reader.type("pulsus apply undo.yaml --check")
    reader.confirm("pulsus apply undo.yaml")
    assert reader.value() == 98
    assert reader.left == []


def test_a_plan_with_a_name_of_its_own_is_found_for_other_values(reader):
    names = re.findall(r"ready \w+\.yaml for\s+the launch", PAGE)
    words = [" ".join(name.split()) for name in names]
    assert words == ["ready app.yaml for the launch", "ready db.yaml for the launch"]
    text = (reader.folder / "workers.yaml").read_text(encoding="utf-8")
    text = text.replace("set workers, if the file has no errors", words[0])
    (reader.folder / "launch.yaml").write_text(text, encoding="utf-8")
    (reader.folder / "db.yaml").write_text("port: 1\nworkers: 1\n", encoding="utf-8")
    path = ("--input", "path=app.yaml")
    done = pulsus(reader.folder, "plan", "--file", "launch.yaml", "-o", "launch.plan.yaml", *path)
    assert done.code == 0, done.err
    assert pulsus(reader.folder, "plan", words[1], "-o", "db.plan.yaml").code != 0
    assert pulsus(reader.folder, "apply", "launch.plan.yaml", "--yes").code == 0
    done = pulsus(reader.folder, "plan", words[1], "-o", "db.plan.yaml")
    assert done.code == 0, done.err
    made = yaml.safe_load((reader.folder / "db.plan.yaml").read_text(encoding="utf-8"))
    tools = [step["tool"] for step in made["plan"]["steps"]]
    assert tools == ["config/lint/lint_config", "config/edit/set_config_line"]
    assert made["inputs"]["path"]["value"] == "db.yaml"


def test_a_check_and_an_apply_end_with_the_codes_of_the_guide(reader):
    reader.type(COMMANDS[0])
    apply = ("apply", "plan.yaml")
    assert pulsus(reader.folder, *apply, "--check", "--detailed-exitcode").code == 7
    assert pulsus(reader.folder, *apply, "--detailed-exitcode").code == 7
    assert pulsus(reader.folder, *apply).code == 4
    plan = reader.folder / "plan.yaml"
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace('value: "8"', 'value: "9"'), encoding="utf-8")
    done = pulsus(reader.folder, *apply, "--yes")
    assert (done.code, "PLAN_EDITED" in done.err) == (6, True)
    plan.write_text(text, encoding="utf-8")
    done = pulsus(reader.folder, *apply, "--input", "value=9")
    assert (done.code, "PLAN_MOVED" in done.err) == (6, True)
    assert reader.value() == 2
