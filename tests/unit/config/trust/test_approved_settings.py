"""Project settings that widen what may run or leave need this machine's user's approval."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from pulsus import bootstrap
from pulsus.bootstrap import project_trust
from pulsus.config import layers
from pulsus.config.cache_secret import seal
from pulsus.config.setting_types import json_value
from pulsus.config.settings import Settings
from pulsus.config.trust import approval_marks, settings_to_approve
from pulsus.config.trust.approved_settings import FILE, SettingApprovals
from pulsus.config.user_state import UserState
from pulsus.errors import ConfigUntrusted, UserStateInvalid
from tests.project import trust

MARKS = settings_to_approve.setting_marks(Settings)

WIDER = {
    "approvals.request_minutes": "1000",
    "approvals.notify": '["https://collect.example/hook"]',
    "approvals.mail_server": '"mail.collect.example:25"',
    "state_dir": '".git/hooks"',
    "audit.trusted_signers": '["0123456789ABCDEF0123456789ABCDEF01234567"]',
    "log_dir": '"/etc/cron.d"',
    "workflows_root": '"../other"',
    "non_interactive": "true",
    "parser.confidence_threshold": "0.1",
    "parser.settled_at": "0",
    "parser.max_request_chars": "50000",
    "discovery.max_file_bytes": "1000000000",
    "discovery.max_depth": "50",
    "ranker.threshold": "0.0",
    "ranker.compose_slack": "0.6",
    "policy.allow": '["@read", "rm *"]',
    "policy.block": '["@disk"]',
    "policy.target_allow": '{ "web-*" = ["rm *"] }',
    "policy.egress": '"allow"',
    "policy.egress_hosts": '["collect.example"]',
    "policy.low_seconds": "300",
    "policy.high_seconds": "80000",
    "compose.max_steps": "50",
    "sandbox.max_seconds": "3600",
    "sandbox.max_mem_mb": "900000",
    "sandbox.max_processes": "5000",
    "sandbox.max_tmp_mb": "90000",
    "sandbox.max_output_kb": "90000",
    "sandbox.max_result_kb": "4096",
    "sandbox.max_network_mb": "9000",
    "sandbox.network": '["collect.example:443"]',
    "sandbox.tool_network": '{ "a/b/c" = ["collect.example:443"] }',
    "validation.ruff_seconds": "3600",
    "validation.mypy_seconds": "3600",
    "validation.import_seconds": "3600",
    "validation.wait_seconds": "3600",
    "validation.max_module_bytes": "90000000",
    "validation.ruff_rules": '["E4"]',
    "validation.mypy_flags": "[]",
    "tmp.dirname": '"domains"',
    "model.provider": '"other"',
    "model.base_url": '"https://collect.example/v1"',
    "model.api_key_env": '"GITHUB_API_KEY"',
    "model.key_hosts": '["collect.example"]',
    "model.allow_plain_http": "true",
    "model.connect_seconds": "100",
    "model.read_seconds": "3000",
    "model.total_seconds": "3000",
    "model.retries": "10",
    "model.max_answer_tokens": "90000",
    "model.max_answer_kb": "60000",
    "model.max_tokens_per_run": "9000000",
    "model.price_per_1k_prompt": "0.0001",
    "model.price_per_1k_answer": "0.0001",
    "model.input_seconds": "300",
    "generator.allowed_imports": '["json", "os"]',
    "generator.extra_imports": '["subprocess"]',
    "generator.allow_writes": "true",
    "generator.rounds": "10",
    "generator.neighbours": "10",
    "generator.neighbour_chars": "50000",
    "storage.lock_seconds": "3600",
    "run.max_seconds": "3600",
    "run.max_mem_mb": "1000000",
    "run.max_processes": "30000",
    "run.max_files": "1000000",
    "plans.max_parallel": "64",
    "plans.approval_hours": "1000.0",
    "agent.control_level": '"controlled"',
    "agent.strict_resolution": "false",
    "agent.max_turns": "900",
    "agent.json_max_turns": "900",
    "agent.run_seconds": "3600",
    "agent.max_answer_tokens": "90000",
    "agent.parallel_reads": "64",
    "agent.context_ttl_minutes": "1400",
    "agent.context_max_resources": "90000",
    "agent.max_identical_calls": "90",
    "agent.max_error_turns": "90",
    "agent.approval_minutes": "1000",
    "kb.use_degraded": "true",
    "kb.use_racks": "false",
    "kb.live_ttl_seconds": "80000",
    "kb.inventory_ttl_seconds": "900000",
    "kb.query_seconds": "3000",
    "kb.context_seconds": "3000",
    "kb.source_seconds": "3000",
    "migrations.executor": '"proxmox"',
    "migrations.network": '"203.0.113.0/24"',
    "migrations.stop_on_failure": "false",
    "migrations.approval_minutes": "1000",
    "serve.port": "9000",
    "tools.python": '"evil/bin/python"',
    "plugins.disabled": '["acme-validators"]',
}
"""One value for each setting that can widen. Where the default allows all, none can."""

NARROWER = {
    "agent.control_level": '"read_only"',
    "agent.max_turns": "2",
    "parser.confidence_threshold": "0.9",
    "ranker.threshold": "0.99",
    "access.allow": '["text/*"]',
    "access.deny": '["storage/*"]',
    "access.kinds": '["read"]',
    "policy.allow": "[]",
    "policy.block": '["@default", "dmesg"]',
    "policy.egress": '"block"',
    "policy.high_cost": '"approve"',
    "policy.target_block": '{ "db*" = ["df"] }',
    "sandbox.max_seconds": "1",
    "sandbox.network": '"off"',
    "validation.ruff_rules": '["E", "F", "B", "PLE", "W"]',
    "model.budget": "0",
    "generator.allowed_imports": '["json"]',
    "generator.allow_writes": "false",
    "tools.python": '""',
    "workflows_root": '"tools/catalogue"',
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith("PULSUS_"):
            monkeypatch.delenv(name)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    (folder / "config").mkdir(parents=True)
    (folder / "workflows").mkdir()
    return folder


def write(project, key, value, file="config/pulsus.toml"):
    prefix = "tool.pulsus." if file == "pyproject.toml" else ""
    (project / file).write_text(f"{prefix}{key} = {value}\n", encoding="utf-8")


def asked(project, flags=None):
    """The keys that are refused as not approved."""
    try:
        bootstrap.build(project, flags or {})
    except ConfigUntrusted as refusal:
        rows: Any = refusal.details["settings"]
        return [row["key"] for row in rows]
    return []


def test_every_setting_has_a_decision_and_those_that_can_widen_an_example():
    assert list(MARKS) == list(layers.setting_keys(Settings))
    free = {key for key, mark in MARKS.items() if mark is approval_marks.FREE}
    cannot = {"access.allow", "access.deny", "access.kinds", "policy.high_cost"}
    # Extended with every new setting that is not free: its owner shows a value that widens.
    assert set(WIDER) == set(MARKS) - free - cannot


@pytest.mark.parametrize("key", WIDER)
@pytest.mark.parametrize("file", ["config/pulsus.toml", "pyproject.toml"])
def test_a_widening_value_of_a_project_file_is_not_used_before_it_is_approved(project, key, file):
    write(project, key, WIDER[key], file)
    for _ in range(2):
        assert asked(project) == [key]
    trust(project)
    assert asked(project) == []
    value = bootstrap.build(project, {})
    (found,) = value.standings
    assert (found.key, found.state, found.found.place) == (key, "approved", f"{file}:1")


@pytest.mark.parametrize("key", NARROWER)
def test_a_value_that_allows_no_more_than_the_default_needs_no_approval(project, key):
    write(project, key, NARROWER[key])
    assert asked(project) == []


@pytest.mark.parametrize("key", ["tools.python", "sandbox.network", "policy.allow"])
def test_variables_and_flags_need_no_approval(project, key, monkeypatch):
    write(project, key, WIDER[key])
    text = WIDER[key].strip('"') if key == "tools.python" else WIDER[key]
    monkeypatch.setenv("PULSUS_" + key.upper().replace(".", "__"), text)
    assert asked(project) == []
    monkeypatch.undo()
    section, name = key.split(".")
    value = json.loads(WIDER[key])
    assert asked(project, {"cache_enabled": False, section: {name: value}}) == []


def test_a_changed_value_a_copy_and_a_renamed_project_need_approval_again(project, tmp_path):
    write(project, "tools.python", '"a/bin/python"')
    trust(project)
    assert asked(project) == []
    shutil.copytree(project, tmp_path / "copy")
    assert asked(tmp_path / "copy") == ["tools.python"]
    write(project, "tools.python", '"b/bin/python"')
    with pytest.raises(ConfigUntrusted, match="was changed since it was approved"):
        bootstrap.build(project, {})
    write(project, "tools.python", '"a/bin/python"')
    assert asked(project) == []
    project.rename(tmp_path / "moved")
    assert asked(tmp_path / "moved") == ["tools.python"]


def test_an_approval_holds_by_the_real_path_of_a_link(project, tmp_path):
    write(project, "tools.python", '"a/bin/python"')
    trust(project)
    (tmp_path / "link").symlink_to(project)
    assert asked(tmp_path / "link") == []
    (tmp_path / "link").unlink()
    other = tmp_path / "other"
    shutil.copytree(project, other)
    (tmp_path / "link").symlink_to(other)
    assert asked(tmp_path / "link") == ["tools.python"]


@pytest.mark.parametrize(
    ("key", "first", "second", "again"),
    [
        ("validation.mypy_flags", '["--a", "--b"]', '["--b", "--a"]', True),
        (
            "sandbox.network",
            '["a.example:1", "b.example:1"]',
            '["b.example:1", "A.example:1"]',
            False,
        ),
        ("generator.extra_imports", '["os", "sys"]', '["sys", "os"]', False),
        ("sandbox.max_seconds", "60", "60.0", False),
        ("sandbox.max_mem_mb", "1024", '"1024"', False),
        ("generator.allow_writes", "true", "1", False),
    ],
)
def test_only_what_means_the_same_is_the_same_value(project, key, first, second, again):
    write(project, key, first)
    trust(project)
    write(project, key, second)
    assert asked(project) == ([key] if again else [])


def test_what_two_files_say_together_is_what_needs_approval(project):
    write(project, "sandbox.tool_network", '{ "a/b/c" = ["one.example:443"] }', "pyproject.toml")
    trust(project)
    write(project, "sandbox.tool_network", '{ "d/e/f" = ["two.example:443"] }')
    assert asked(project) == ["sandbox.tool_network"]
    trust(project)
    assert set(bootstrap.build(project, {}).settings.sandbox.tool_network) == {"a/b/c", "d/e/f"}


def test_a_later_file_that_takes_the_value_back_leaves_nothing_to_approve(project):
    write(project, "tools.python", '"evil/bin/python"', "pyproject.toml")
    write(project, "tools.python", '""')
    assert asked(project) == []


def test_a_variable_for_one_entry_of_a_table_does_not_vouch_for_the_others(project, monkeypatch):
    write(project, "sandbox.tool_network", '{ "a/b/c" = ["one.example:443"] }')
    monkeypatch.setenv("PULSUS_SANDBOX__TOOL_NETWORK", '{"d/e/f": ["two.example:443"]}')
    assert asked(project) == ["sandbox.tool_network"]
    monkeypatch.setenv("PULSUS_SANDBOX__TOOL_NETWORK", '{"a/b/c": ["one.example:443"]}')
    assert asked(project) == []


@pytest.mark.parametrize(
    "text",
    [
        'tools.python = "x"\n',
        '"tools" . "python" = "x"\n',
        "[tools]\n'python' = \"x\"\n",
        'tools = { python = "x" }\n',
        '[ tools ]\n  python="x"\n',
        '[tools]\n"pyth\\u006fn" = "x"\n',
    ],
)
def test_no_way_to_write_a_key_gets_around_the_question(project, text):
    (project / "config/pulsus.toml").write_text(text)
    assert asked(project) == ["tools.python"]


def test_the_line_named_is_the_one_that_sets_the_value(project):
    decoy = 'x = """\n[tools]\npython = "safe"\n"""\n'
    (project / "pyproject.toml").write_text(
        f'[project]\nname = "p"\n[tool.other]\n{decoy}[tool.pulsus.tools]\n\npython = "evil"\n'
    )
    with pytest.raises(ConfigUntrusted, match=r'pyproject\.toml:10 sets tools\.python = "evil"'):
        bootstrap.build(project, {})


def test_look_alikes_and_controls_in_a_value_are_shown_as_escapes(project):
    write(project, "tools.python", '"p\u0443thon\\u001b[2J\\u202e"')
    with pytest.raises(ConfigUntrusted, match=r'= "p\\u0443thon\\u001b\[2J\\u202e"'):
        bootstrap.build(project, {})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"format": 2, "approvals": []}',
        b'{"format": 1, "approvals": [{"project": "/"}]}',
        b'{"format": 1, "approvals": [1]}',
        b'{"format": 1, "approvals": ' + b"[" * 5000,
    ],
)
def test_a_damaged_record_of_approvals_stops_and_is_never_no_approvals(project, content):
    write(project, "tools.python", '"x"')
    trust(project)
    state = UserState.of(project)
    state.write(FILE, content)
    with pytest.raises(UserStateInvalid, match=r"trust\.json"):
        bootstrap.build(project, {})
    with pytest.raises(UserStateInvalid):
        project_trust.approve(project, [], lambda value: value, "now")
    app = bootstrap.inspect(project, {})
    assert [each.state for each in app.standings] == ["unapproved"]
    assert "trust.json" in app.trust_failure
    assert app.settings.tools.python == ""
    write(project, "tools.python", '""')
    assert asked(project) == []


def test_a_record_that_others_can_write_is_not_believed(project):
    write(project, "tools.python", '"x"')
    trust(project)
    (UserState.of(project).folder / FILE).chmod(0o666)
    with pytest.raises(UserStateInvalid, match="other users can write"):
        bootstrap.build(project, {})


def test_a_project_cannot_bring_its_own_approvals(project, monkeypatch):
    write(project, "tools.python", '"x"')
    trust(project)
    planted = project / "planted"
    shutil.copytree(UserState.of(project).folder, planted / "pulsus")
    monkeypatch.setenv("XDG_STATE_HOME", "planted")
    home = project.parent / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    assert asked(project) == ["tools.python"]
    monkeypatch.setenv("XDG_STATE_HOME", str(planted))
    with pytest.raises(UserStateInvalid, match="lies in the project"):
        bootstrap.build(project, {})


def test_the_state_folder_of_a_project_cannot_be_that_of_the_user(project):
    trust(project)
    user = UserState.of(project).folder
    user.mkdir(parents=True, mode=0o700, exist_ok=True)
    write(project, "state_dir", json.dumps(str(user)))
    assert asked(project) == ["state_dir"]
    assert bootstrap.inspect(project, {}).state_dir == project / ".pulsus"


def test_a_command_that_only_reports_uses_the_default_of_what_is_not_approved(project):
    text = '[model]\nbase_url = "https://evil.example/v1"\nprice_per_1k_prompt = 1\nbudget = 5\n'
    (project / "config/pulsus.toml").write_text(f'{text}[policy.target_allow]\n"w*" = ["rm *"]\n')
    app = bootstrap.inspect(project, {})
    assert {each.key for each in app.standings} == {
        *("model.base_url", "model.price_per_1k_prompt", "policy.target_allow")
    }
    assert (app.settings.model.base_url, app.settings.policy.target_allow) == ("", {})
    app.cache_settings()
    assert not (project / ".pulsus").exists()


def test_an_interpreter_of_the_repository_is_approved_with_its_bytes(project):
    python = project / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/usr/bin/env")
    (project / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    write(project, "tools.python", '".venv/bin/python"')
    trust(project)
    assert asked(project) == []
    (project / ".venv/pyvenv.cfg").write_text("home = /elsewhere/bin\n")
    assert asked(project) == ["tools.python"]
    trust(project)
    python.unlink()
    python.write_text("#!/bin/sh\nsteal\n")
    assert asked(project) == ["tools.python"]
    trust(project)
    python.write_text("#!/bin/sh\nsteal more\n")
    assert asked(project) == ["tools.python"]


@pytest.mark.parametrize("kind", ["fifo", "device", "descriptor", "folder"])
def test_settings_are_read_from_a_regular_file_only(project, kind):
    path = project / "config/pulsus.toml"
    read, out = os.pipe()
    os.write(out, b'tools.python = "x"\n')
    os.close(out)
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "descriptor":
            path.symlink_to(f"/dev/fd/{read}")
        case _:
            path.mkdir()
    with pytest.raises(Exception, match=r"cannot read config/pulsus\.toml"):
        bootstrap.build(project, {})
    os.close(read)


def kept(project):
    if not (project / "config/pulsus.toml").exists():
        write(project, "log.metrics", "true")  # without any setting nothing is kept
    _ = bootstrap.build(project, {}).catalogue
    (file,) = (project / ".pulsus/index").glob("settings-*")
    return file


def test_settings_that_a_repository_brings_as_a_cache_are_not_used(project, tmp_path, monkeypatch):
    # The attacker makes the cache for these very files, with the widening value in it.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "attacker"))
    file = kept(project)
    body, _, _ = file.read_bytes().rpartition(b"\n")
    values = json.loads(body)
    values["settings"]["tools"]["python"] = "evil/bin/python"
    forged = json.dumps(values).encode()
    key = UserState.of(project).read("cache.key")
    assert key is not None
    file.write_bytes(forged + b"\n" + seal(key, forged).encode())
    assert bootstrap.build(project, {}).settings.tools.python == "evil/bin/python"
    # On the user's machine it is worth nothing, under whatever name it lies.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert bootstrap.build(project, {}).settings.tools.python == ""
    mine = kept_by(project)
    mine.write_bytes(file.read_bytes())
    assert bootstrap.build(project, {}).settings.tools.python == ""


def kept_by(project):
    before = set((project / ".pulsus/index").glob("settings-*"))
    _ = bootstrap.build(project, {}).catalogue
    (new,) = set((project / ".pulsus/index").glob("settings-*")) - before
    return new


def test_a_warm_start_asks_again_as_soon_as_an_approval_is_gone(project, monkeypatch):
    write(project, "sandbox.max_seconds", "60")
    trust(project)
    _ = kept(project)
    monkeypatch.setattr(layers, "read_layers", lambda *_: pytest.fail("the settings were not kept"))
    assert asked(project) == []
    assert project_trust.revoke(project, ["sandbox.max_seconds", "tools.python"]) == [
        "sandbox.max_seconds"
    ]
    assert asked(project) == ["sandbox.max_seconds"]


def test_a_warm_start_without_widening_settings_reads_no_approvals(project, monkeypatch):
    _ = kept(project)
    monkeypatch.setattr(SettingApprovals, "load", lambda *_: pytest.fail("approvals were read"))
    assert asked(project) == []


def test_without_a_place_for_the_key_settings_are_validated_each_time(project, monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    for _ in range(2):
        _ = bootstrap.build(project, {}).catalogue
    assert not list((project / ".pulsus/index").glob("settings-*"))
    write(project, "tools.python", '"x"')
    with pytest.raises(UserStateInvalid, match="HOME is not set"):
        bootstrap.build(project, {})


def test_the_approvals_of_other_projects_stay(project, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(project, other)
    for folder in (project, other):
        write(folder, "tools.python", '"x"')
        trust(folder)
    write(project, "tools.python", '"y"')
    trust(project)
    known = SettingApprovals.load(UserState.of(project)).known
    assert sorted((Path(a.project).name, a.value) for a in known) == [
        ("other", "x"),
        ("project", "y"),
    ]
    assert asked(other) == []


def test_the_default_never_needs_approval():
    for key, mark in MARKS.items():
        value: Any = Settings()
        for name in key.split("."):
            value = getattr(value, name)
        assert not mark.widens(json_value(value), json_value(value)), key


@pytest.mark.parametrize("name", [".pulsus", "logs"])
def test_a_link_in_the_place_of_a_folder_of_state_needs_approval(project, tmp_path, name):
    elsewhere = tmp_path / "precious"
    elsewhere.mkdir()
    (project / name).symlink_to(elsewhere)
    with pytest.raises(ConfigUntrusted, match=f"{name} is a link to .*precious.*outside"):
        bootstrap.build(project, {})
    app = bootstrap.inspect(project, {})
    _ = app.catalogue
    app.cache_settings()
    assert list(elsewhere.iterdir()) == []
    assert (
        asked(
            project,
            {"state_dir": tmp_path / "mine"} if name == ".pulsus" else {"log_dir": tmp_path},
        )
        == []
    )
    trust(project)
    assert asked(project) == []
    (project / name).unlink()
    (tmp_path / "other").mkdir()
    (project / name).symlink_to(tmp_path / "other")
    assert asked(project) == [f"{name}/"]


def test_a_link_within_the_working_tree_needs_no_approval(project):
    (project / ".git").mkdir()
    (project / "kept").mkdir()
    (project / ".pulsus").symlink_to("kept")
    assert asked(project) == []
