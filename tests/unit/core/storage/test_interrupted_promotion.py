"""Ctrl-C in the middle of a promotion waits until it is whole (spec §10)."""

import os
import signal

import pytest

from pulsus.core.storage.records import promotion_records
from tests.promotions import module, promoted, tree


@pytest.mark.parametrize("nth", [1, 2, 3, 4], ids=["module", "version", "changelog", "records"])
def test_ctrl_c_between_two_files_waits_for_the_last_one(tmp_path, monkeypatch, nth):
    rename = os.rename
    into_place = []

    def interrupted(source, target, **folders):
        if str(source).endswith(".pulsus-tmp") and target != "promotion.json":
            into_place.append(target)
            if len(into_place) == nth:
                signal.raise_signal(signal.SIGINT)
        rename(source, target, **folders)

    promoted(tmp_path)
    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        promoted(tmp_path, module("two"))
    folder = tmp_path / "workflows/domains/system/count"
    assert len(into_place) == 4
    assert (folder / "things.py").read_bytes() == module("two")
    assert [r.version for r in promotion_records.read_records(folder / "metadata.jsonl")] == [
        "1.0.0",
        "1.0.1",
    ]
    assert "1.0.1" in (tmp_path / "workflows/domains/system/CHANGELOG.md").read_text("utf-8")
    left = [n for n in tree(tmp_path) if n.endswith((".pulsus-tmp", "promotion.json"))]
    assert left == []
