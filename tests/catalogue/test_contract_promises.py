"""The shipped tools do what their docstrings promise (docs/tool-contract.md)."""

import json
import os
from pathlib import Path

import pytest

from pulsus.core.contract.example_match import matches
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import ToolSpec

TOOLS = [
    "storage/usage/disk_usage",
    "storage/usage/biggest_files",
    "storage/usage/folder_sizes",
    "storage/age/stale_files",
    "storage/age/recent_files",
    "storage/usage/smallest_files",
    "storage/mounts/mount_table",
    "memory/usage/memory_summary",
    "process/usage/top_processes",
    "process/files/open_files",
    "process/state/stuck_processes",
    "system/load/load_average",
    "system/info/kernel_uptime",
    "system/users/local_users",
    "system/time/time_sync",
    "system/time/time_zone",
    "system/packages/pending_updates",
    "system/kernel/kernel_parameters",
    "network/ports/listening_ports",
    "network/ports/check_port",
    "network/dns/dns_lookup",
    "network/routes/route_table",
    "network/latency/tcp_latency",
    "network/addresses/subnet_info",
    "network/interfaces/interface_counters",
    "web/health/http_health",
    "web/tls/certificate_expiry",
]
DOMAINS = Path(__file__).resolve().parents[2] / "workflows" / "domains"


def spec_of(tool_id):
    path = DOMAINS / f"{tool_id}.py"
    domain, action, name = tool_id.split("/")
    found = read_tool(
        path.read_bytes(),
        path=path,
        tool_id=tool_id,
        domain=domain,
        action=action,
        name=name,
        max_bytes=100_000,
    )
    assert isinstance(found, ToolSpec), found
    return found


@pytest.fixture(params=TOOLS)
def spec(request):
    return spec_of(request.param)


def moved(value, folder):
    """The same value with every path below /tmp/ moved below the test's own folder."""
    return json.loads(json.dumps(value).replace("/tmp/", f"{folder}/"))


def test_every_section_is_there_and_readable(spec):
    assert spec.contract_errors == ()
    assert spec.missing_sections == ()
    assert spec.summary.endswith(".")
    assert len(spec.body.splitlines()) >= 2


def test_every_tool_is_declared_a_read_that_needs_no_secret(spec):
    assert (spec.kind, spec.kind_declared) == ("read", True)
    assert spec.secrets == ()
    assert spec.effects is not None


def test_every_argument_is_typed_and_described(spec):
    for arg in spec.args:
        assert arg.type_hint, arg.name
        assert arg.description, arg.name


def test_every_tool_proves_its_behaviour_and_its_outputs_are_those_it_documents(
    spec, load, tmp_path
):
    assert any(example.has_expected for example in spec.examples)
    module = load(spec.id)
    for number, example in enumerate(spec.examples):
        if not example.has_expected:
            continue
        here = tmp_path / str(number)
        for file in example.files:
            path = Path(moved(file.path, here))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            if file.age_s:
                age(path, file.age_s)
        result = module.run(**moved(dict(example.inputs), here))
        assert matches(moved(example.expected, here), result) is None
        assert {output.name for output in spec.returns} == set(result)
        json.dumps(result, allow_nan=False)


def age(path, seconds):
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))
