"""A shipped read on a machine without its source ends with an error, and not with empty rows."""

from pathlib import Path

import pytest

from pulsus import bootstrap
from tests.project import pulsus_here

pytestmark = pytest.mark.seconds

ROOT = Path(__file__).parents[2]

READS = {
    "services/status/service_status": "--input path=",
    "logs/errors/journal_errors": "--input path=",
    "logs/read/journal_tail": "--input export=",
    "system/kernel/oom_kills": "--input path=",
}
"""The reads of the catalogue that ask a service of the machine, and the input for a saved copy."""


def test_every_shipped_read_with_an_error_and_no_check_is_listed_here(tmp_path):
    app = bootstrap.build(ROOT, {"cache_enabled": False, "log_dir": str(tmp_path)})
    reads = {tool.id: tool.returns for tool in app.catalogue.tools if tool.kind == "read"}
    assert set(READS) == {
        tool
        for tool, outputs in reads.items()
        if "error" in {each.name for each in outputs}
        and not any("bool" in (each.type_hint or "") for each in outputs)
    }


@pytest.mark.parametrize("tool", sorted(READS))
def test_a_read_without_its_source_fails_and_names_the_next_step(tool, tmp_path):
    env = {"PATH": str(tmp_path), "PULSUS_LOG_DIR": str(tmp_path / "logs")}
    done = pulsus_here(ROOT, "run", tool, "--output", "json", env=env)
    assert (done.code, done.json["ok"]) == (1, False)
    assert done.json["error"]["code"] == "SOURCE_UNREADABLE"
    assert READS[tool] in done.json["error"]["hint"]
    assert done.json["result"]["error"]
    said = pulsus_here(ROOT, "run", tool, env=env)
    assert said.code == 1
    assert f"error[SOURCE_UNREADABLE]: {tool} could not read what it reports on" in said.err
    assert READS[tool] in said.err


def test_a_route_that_runs_such_a_read_fails_too(tmp_path):
    env = {"PATH": str(tmp_path), "PULSUS_LOG_DIR": str(tmp_path / "logs")}
    done = pulsus_here(ROOT, "route", "which services failed", "--run", env=env)
    assert (done.code, "error[SOURCE_UNREADABLE]" in done.err) == (1, True)


def test_a_plan_does_not_go_on_with_the_rows_of_such_a_read(tmp_path):
    env = {"PATH": str(tmp_path), "PULSUS_LOG_DIR": str(tmp_path / "logs")}
    asked = "list the failed services as a markdown table"
    done = pulsus_here(ROOT, "route", asked, "--run", "--non-interactive", env=env)
    assert (done.code, done.out.count("|")) == (1, 0), done.err
    assert "error[SOURCE_UNREADABLE]" in done.err
    assert "step services/status/service_status could not read what it reports on" in done.err
    assert "pulsus tools show services/status/service_status" in " ".join(done.err.split())


def test_a_saved_listing_without_services_is_an_answer(tmp_path):
    listing = tmp_path / "units.txt"
    listing.write_text("", encoding="utf-8")
    env = {"PULSUS_LOG_DIR": str(tmp_path / "logs")}
    args = ("run", "service_status", "--input", f"path={listing}", "--output", "json")
    done = pulsus_here(ROOT, *args, env=env)
    assert (done.code, done.json["result"]["total"]) == (0, 0)
