"""Settings become the hosts of one module's dry run (spec §8, §17)."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pulsus.bootstrap import build
from pulsus.config.settings import SandboxConfig
from pulsus.core.types import StepResult
from pulsus.errors import ConfigError
from pulsus.routing.delivery.network_allowlist import build_allowlist

A, B, C = "a.example.org:443", "b.example.org:443", "c.example.org:443"
IDS = {"web/fetch/page": (B,), "web/fetch/other": (C,)}
FILE = "config/pulsus.toml"


def made(folder, *, records=(), origins=(), network=(A,), tools=IDS):
    config = SandboxConfig(network=network, tool_network=dict(tools))
    return build_allowlist(config, dict(origins), folder / "_tmp", lambda: dict(records))


def test_the_pipeline_of_generated_modules_gets_no_network_of_all(tmp_path):
    (tmp_path / "workflows").mkdir()
    app = build(tmp_path, {"sandbox": {"network": [A], "tool_network": {"x/y/z": [B]}}})
    guardrails = ("guardrails", lambda source, tool: StepResult("guardrails", True, 0))
    guarded: Any = app.pipeline((guardrails,)).network
    plain: Any = app.pipeline().network
    assert (guarded.everywhere, dict(guarded.by_tool)) == ((), {"x/y/z": (B,)})
    assert plain.everywhere == (A,)


def tool(tool_id):
    return SimpleNamespace(id=tool_id, path=Path("/elsewhere/page.py"))


def note(path, generator):
    made = f', "made": {{"generator": "{generator}"}}' if generator else ""
    path.with_suffix(".json").write_text(
        '{"request": "x", "route_id": null, "run_id": "r", "status": "pending", "reasons": [], '
        f'"created_at": "2026-01-01T00:00:00+00:00"{made}}}',
        encoding="utf-8",
    )


@pytest.mark.parametrize("network", ["off", ()])
def test_without_a_host_there_is_no_allowlist(tmp_path, network):
    assert made(tmp_path, network=network, tools={}) is None
    assert made(tmp_path, network=network, tools={"web/fetch/page": ()}) is None


def test_a_tool_reaches_the_hosts_of_all_tools_and_its_own(tmp_path):
    allowed = made(tmp_path)
    assert allowed(tmp_path / "x.py", tool("web/fetch/page"), ()) == (A, B)
    assert allowed(tmp_path / "x.py", tool("web/fetch/new"), ()) == (A,)


def test_a_composition_reaches_the_hosts_of_its_steps(tmp_path):
    allowed = made(tmp_path)
    assert allowed(tmp_path / "x.py", tool("web/fetch/both"), ["web/fetch/other"]) == (A, C)


def test_a_tools_hosts_are_not_anothers(tmp_path):
    allowed = made(tmp_path, network="off")
    assert allowed(tmp_path / "x.py", tool("web/fetch/pages"), ()) == ()


@pytest.mark.parametrize(
    ("generator", "reached"),
    [
        pytest.param("model", (), id="written by a model"),
        pytest.param("adopt", (A,), id="adopted"),
        pytest.param(None, (A,), id="composed"),
    ],
)
def test_a_generated_module_reaches_only_the_hosts_of_its_id(tmp_path, generator, reached):
    folder = tmp_path / "_tmp"
    folder.mkdir()
    path = folder / "page.py"
    note(path, generator)
    allowed = made(tmp_path)
    assert allowed(path, tool("candidate/page"), ()) == reached
    own = made(tmp_path, tools={"candidate/page": (B,)})
    assert own(path, tool("candidate/page"), ()) == tuple(sorted({*reached, B}))


def test_a_guarded_module_reaches_only_the_hosts_of_its_id(tmp_path):
    """Also where an earlier skeleton left its note under the same name."""
    folder = tmp_path / "_tmp"
    folder.mkdir()
    note(folder / "page.py", "template")
    allowed = made(tmp_path, tools={"candidate/page": (B,)})
    page = tool("candidate/page")
    assert allowed(folder / "page.py", page, ()) == (A, B)
    assert allowed.own()(folder / "page.py", page, ()) == (B,)


def test_a_candidate_of_which_nothing_is_known_counts_as_written_by_a_model(tmp_path):
    (tmp_path / "_tmp").mkdir()
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / "_tmp" / "page.py")
    for path in (tmp_path / "_tmp" / "page.py", link):
        assert made(tmp_path)(path, tool("candidate/page"), ()) == ()


def test_a_promoted_tool_that_a_model_wrote_stays_one(tmp_path):
    records = {
        "web/fetch/page": SimpleNamespace(model={"name": "m"}),
        "web/fetch/other": SimpleNamespace(model=None),
    }
    allowed = made(tmp_path, records=records)
    assert allowed(tmp_path / "x.py", tool("web/fetch/page"), ()) == (B,)
    assert allowed(tmp_path / "x.py", tool("web/fetch/other"), ()) == (A, C)


@pytest.mark.parametrize(
    "entry",
    ["127.0.0.1:2375", "10.0.0.1:22", "169.254.169.254:80", "[::1]:80", "[::ffff:10.0.0.1]:80"],
)
@pytest.mark.parametrize("origin", ["pyproject.toml", FILE])
def test_a_checkout_cannot_open_this_machine_to_its_own_modules(tmp_path, entry, origin):
    with pytest.raises(ConfigError, match="public internet") as everywhere:
        made(tmp_path, network=(A, entry), origins={"sandbox.network": origin})
    assert f"--allow-network {entry}" in everywhere.value.hint
    with pytest.raises(ConfigError, match=r"tool_network\.x/y/z"):
        made(
            tmp_path,
            tools={"x/y/z": (entry,)},
            origins={"sandbox.network": "flag", "sandbox.tool_network.x/y/z": origin},
        )


@pytest.mark.parametrize("origin", ["environment", "flag"])
def test_a_flag_or_variable_may_allow_private_addresses(tmp_path, origin):
    entry = "127.0.0.1:8080"
    allowed = made(tmp_path, network=(entry,), origins={"sandbox.network": origin})
    assert allowed(tmp_path / "x.py", tool("a/b/c"), ()) == (entry,)


def test_a_plan_lists_the_hosts_of_its_dry_run(tmp_path):
    plan = [tool("web/fetch/page"), tool("web/fetch/other")]
    assert made(tmp_path).notes(plan) == (f"its dry run may reach {A}, {B}, {C}",)
    assert made(tmp_path, network="off").notes([tool("a/b/c")]) == ()
