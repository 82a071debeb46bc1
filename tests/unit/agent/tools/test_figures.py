"""`pulsus_metrics`, `pulsus_storage` and `pulsus_alerts` on this machine."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from pulsus.agent.tools.local import machine_figures, machine_findings
from tests.agent_calls import call, code, data


def metrics(tools, kind, **args):
    return call(tools, "pulsus_metrics", {"type": kind, **args})


def storage(tools, kind, **args):
    return call(tools, "pulsus_storage", {"type": kind, **args})


def test_performance_is_one_point_with_shares(tools):
    outcome = metrics(tools, "performance")
    shown = data(outcome)
    (point,) = shown["points"]
    assert all(0 <= point[name] <= 100 for name in ("cpu", "memory", "disk"))
    assert shown["memory"]["total_bytes"] > shown["memory"]["used_bytes"] > 0
    assert outcome.read == (tools.system.host.id,)


def test_processes_are_ordered_and_bounded(tools):
    shown = data(metrics(tools, "processes", sort="memory", limit=3))
    sizes = [each["memory_bytes"] for each in shown["processes"]]
    assert len(sizes) <= 3
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("kind", ["network", "disk_io", "temperatures"])
def test_other_figures_are_objects(tools, kind):
    assert isinstance(data(metrics(tools, kind)), dict)


def test_figures_without_history_are_unavailable(tools):
    tool = tools.by_name["pulsus_metrics"]
    assert "no history" in tool.needs({"type": "baselines"}).unavailable
    assert code(metrics(tools, "baselines")) == "EXECUTION_CONTEXT_UNAVAILABLE"


def test_without_psutil_the_answer_names_the_extra(tools, monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    outcome = metrics(tools, "performance")
    assert code(outcome) == "EXECUTION_CONTEXT_UNAVAILABLE"
    assert "[agent]" in outcome.response.error.details["recovery_hint"]
    host = data(call(tools, "pulsus_query", {"action": "get", "target_host": "localhost"}))
    assert "not installed" in host["figures"]


def test_a_file_system_has_the_figures_of_the_kernel(tools, tmp_path):
    (row,) = data(storage(tools, "filesystems", path=str(tmp_path)))["filesystems"]
    assert Path(row["mountpoint"]).stat().st_dev == tmp_path.stat().st_dev
    assert row["total_bytes"] == shutil.disk_usage(tmp_path).total


def test_the_largest_parts_of_a_folder_are_named(tools, tmp_path):
    for name, size in (("small", 1_000), ("large", 400_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_bytes(b"x" * size)
    rows = data(storage(tools, "filesystems", path=str(tmp_path)))["largest"]
    assert [each["path"] for each in rows] == [f"{tmp_path}/large", f"{tmp_path}/small"]
    assert rows[0]["used_bytes"] >= 400_000


def test_disks_without_a_verdict_say_why(tools):
    for disk in data(storage(tools, "disks"))["disks"]:
        assert disk["health"] in {"PASSED", "FAILED"} or disk["health_note"]


@pytest.mark.parametrize("kind", ["backups", "snapshots", "replication", "ceph"])
def test_storage_of_other_backends_is_unavailable(tools, kind):
    assert tools.by_name["pulsus_storage"].needs({"type": kind}).unavailable
    assert code(storage(tools, kind)) == "EXECUTION_CONTEXT_UNAVAILABLE"


def full_disk(path=""):
    row = {"mountpoint": "/data", "usage_percent": 97.0, "inodes_percent": 3.0, "read_only": False}
    return [row]


@pytest.fixture
def full(monkeypatch):
    """Figures of a machine with a full disk."""
    monkeypatch.setattr(machine_figures, "file_systems", full_disk)


def test_a_full_disk_is_a_critical_finding(tools, full):
    outcome = call(tools, "pulsus_alerts", {"action": "list", "severity": "critical"})
    rows = {each["id"]: each for each in data(outcome)["alerts"]}
    assert rows["disk:/data"]["value"] == 97.0
    assert rows["disk:/data"]["threshold"] == 95.0


def alert(tools, action, **args):
    args = {"action": action, **args}
    return call(tools, "pulsus_alerts", args, consent="yes", on=[tools.system.host])


def test_a_dismissed_alert_is_hidden_in_this_session(tools, full):
    assert code(alert(tools, "resolve", alert_id="disk:/data")) == "EXECUTION_FAILED"
    outcome = alert(tools, "dismiss", alert_id="disk:/data", reason="known")
    assert data(outcome)["status"] == "dismissed"
    assert outcome.wrote == (tools.system.host.id,)
    shown = data(call(tools, "pulsus_alerts", {"action": "findings"}))
    assert "disk:/data" not in {each["id"] for each in shown["active"]}
    assert shown["counts"]["dismissed"] == 1
    tools.system.dismissed.clear()


def test_an_alert_whose_cause_is_gone_can_be_resolved(tools):
    assert data(alert(tools, "resolve", alert_id="disk:/gone"))["status"] == "resolved"


def test_an_unknown_alert_cannot_be_dismissed(tools):
    assert code(alert(tools, "dismiss", alert_id="disk:/gone", reason="x")) == "NOT_FOUND"


def test_a_dismissal_needs_consent(tools, full):
    args = {"action": "dismiss", "alert_id": "disk:/data", "reason": "x"}
    assert code(call(tools, "pulsus_alerts", args)) == "APPROVAL_REQUIRED"
    assert tools.system.dismissed == {}


def test_the_lack_of_memory_is_read_from_the_kernel(tmp_path, monkeypatch):
    (tmp_path / "vmstat").write_text("nr_free_pages 5\noom_kill 3\n", encoding="ascii")
    monkeypatch.setattr(machine_findings, "_VMSTAT", tmp_path / "vmstat")
    assert machine_findings._out_of_memory_kills() == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root sees every process")
def test_a_user_without_rights_gets_findings_too(tools):
    assert call(tools, "pulsus_alerts", {"action": "list"}).response.ok
