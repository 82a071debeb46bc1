"""Every shipped tool went through the gate: its record is of exactly these bytes."""

import hashlib
from pathlib import Path

import pytest

from pulsus import bootstrap
from pulsus.core.contract.declared_call import find_verify_gap
from pulsus.core.storage.records import promotion_records
from tests.shipped import APP, TOOLS

ROOT = Path(__file__).parents[2]


def test_the_latest_record_of_a_shipped_tool_is_of_its_bytes():
    assert TOOLS
    for tool in TOOLS:
        record = promotion_records.latest_record(
            promotion_records.read_records(tool.path.parent / "metadata.jsonl"), tool.name
        )
        assert record is not None, f"{tool.id} was never promoted"
        found = f"sha256:{hashlib.sha256(tool.path.read_bytes()).hexdigest()}"
        assert (record.tool_hash, record.proof) == (found, "behaviour"), tool.id


def test_the_catalogue_has_no_broken_file_and_no_incomplete_contract():
    assert APP.catalogue.broken == ()
    assert APP.catalogue.warnings == ()
    assert [t.id for t in TOOLS if t.missing_sections or t.contract_errors] == []


def test_no_shipped_write_has_a_check_that_proves_nothing():
    assert [t.id for t in TOOLS if find_verify_gap(t)] == []


def test_the_catalogue_is_as_large_as_promised():
    assert len(TOOLS) >= 40
    assert len({t.domain for t in TOOLS if t.domain}) >= 10
    assert any(t.shared for t in TOOLS)


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.usefixtures("loaded_mypy")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda t: t.id)
def test_every_shipped_tool_still_passes_the_gate(tool, tmp_path):
    app = bootstrap.build(ROOT, {"log_dir": tmp_path / "logs"})
    source = tool.path.read_bytes()
    report, validated = app.pipeline().validate(source, tool.path, tool)
    assert report.verdict == "accepted", report.summary
    assert report.proof == "behaviour"
    assert validated is not None
