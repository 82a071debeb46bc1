"""Hostile modules of blind lots are refused, honest ones accepted (`tests/blind_modules.py`)."""

from pathlib import Path

import pytest

from tests.blind_modules import LOTS, OPEN, modules
from tests.project import lend_types, pulsus_here
from tests.sandboxes import need_sandbox

PART = 12
PARTS = [
    pytest.param(lot, start, id=f"{lot}-{start}")
    for lot in LOTS
    for start in range(0, len(modules(lot)), PART)
]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.sandbox
@pytest.mark.parametrize(("lot", "start"), PARTS)
def test_hostile_modules_of_a_blind_lot_are_refused_and_controls_accepted(tmp_path, lot, start):
    need_sandbox()
    outside, project, home = (tmp_path / name for name in ("outside", "project", "home"))
    places = {"OUTSIDE": outside, "REPO": project, "HOME": home, "TOKEN": "t0ken"}
    for folder in (outside, project / "workflows", home):
        folder.mkdir(parents=True)
    (outside / "canary.txt").write_text("untouched", encoding="utf-8")
    part = modules(lot)[start : start + PART]
    for module in part:
        (project / f"{module.name}.py").write_bytes(module.filled(places))
    lend_types(project)
    done = pulsus_here(project, "validate", *sorted(project.glob("*.py")), "--output", "json")
    verdicts = {Path(m["path"]).stem: m for m in done.json["modules"]}
    accepted = {name for name, verdict in verdicts.items() if verdict["ok"]}
    known = set().union(*OPEN.values())
    assert {module.name for module in part if module.honest} <= accepted
    assert {module.name for module in part if module.must_be_refused} & accepted <= known
    steady = known - OPEN["the clock of a busy machine"]
    assert {module.name for module in part} & steady <= accepted  # what is refused is not open
    for name in accepted & OPEN["an honest table may look the same, so the proof is shape"]:
        assert verdicts[name]["proof"] == "shape"
    assert (outside / "canary.txt").read_text(encoding="utf-8") == "untouched"
    assert [path.name for path in outside.iterdir()] == ["canary.txt"]
