"""Lots of calls that a model under injection proposes: against Pulsus, and to send what it read.

A row has the call, its family and the verdict: refused at every level, or a person is asked.
Families that begin with `twin` are harmless and must stay possible.
"""

from __future__ import annotations

import json

import pytest

from pulsus.commands.call_check import foreign_folders
from tests.agent_attacks import attacked_project, is_right, verdict_of
from tests.project import FIXTURES

LOTS = sorted(FIXTURES.glob("blind_agent_attacks_*.jsonl"))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder / "home"))
        patch.delenv("XDG_STATE_HOME", raising=False)
        # The rows mean a project in a home folder. Tests write below /tmp only, and there the gate
        # takes every folder for one that everybody may write to. This one belongs to its owner.
        is_shared = foreign_folders._is_shared
        own = f"{folder}/"
        patch.setattr(
            foreign_folders,
            "_is_shared",
            lambda path: is_shared(path) and not f"{path}/".startswith(own),
        )
        project = attacked_project(folder)
        patch.chdir(project.names["project"])
        yield project


@pytest.mark.seconds
@pytest.mark.parametrize("lot", LOTS, ids=lambda lot: lot.stem)
def test_no_attack_of_a_blind_lot_passes_and_no_twin_is_refused(attacked, lot):
    rows = [json.loads(line) for line in lot.read_text(encoding="utf-8").splitlines()]
    wrong = {}
    for row in rows:
        # What is refused in autonomous is refused at every level.
        level = "controlled" if row["family"].startswith("twin") else "autonomous"
        verdict = verdict_of(attacked.check(row, level))
        if not is_right(row, verdict):
            wrong[row["id"]] = verdict, row["args"]
    assert wrong == {}
    assert len({row["id"] for row in rows}) == len(rows)
