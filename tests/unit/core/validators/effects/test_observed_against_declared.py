"""Observed effects against declared ones (spec §8; docs/tool-contract.md)."""

from pathlib import Path

import pytest

from pulsus.config.settings import SandboxConfig
from pulsus.core.contract.effective_kind import get_effective_kind, get_stricter_kind
from pulsus.core.sandbox.job import SandboxOutcome
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.types import JsonValue, ObservedEffects
from pulsus.core.validators.effects.effect_patterns import (
    is_command_covered,
    is_host_covered,
    is_path_covered,
)
from pulsus.core.validators.effects.observed_against_declared import judge_effects
from pulsus.core.validators.steps.smoke_and_dry_run import DryRun
from pulsus.core.validators.validator_protocol import Subject
from tests.candidates import tool_of
from tests.sandboxes import sandboxed

LIMITS = SandboxLimits.of(SandboxConfig(max_seconds=10.0), import_seconds=3.0)
SEEN = ObservedEffects(paths=("~/.bashrc",), hosts=("evil.example:443",), commands=("/bin/sh",))


def tool(kind="write", effects="", signature="path: str = '', dry_run: bool = False"):
    kind = f"Kind: {kind}\n\n" if kind else ""
    effects = f"Effects:\n{effects}\n\n" if effects else ""
    return tool_of(
        f'"""Tool.\n\n{kind}{effects}"""\n\n\ndef run({signature}) -> int:\n    return 1\n'
    )


def effects(paths="none", hosts="none", commands="none"):
    return f"    paths: {paths}\n    hosts: {hosts}\n    commands: {commands}"


def exceeded(observed, inputs=None, **declared):
    return judge_effects(tool(effects=effects(**declared)), observed, inputs or {}).exceeded


@pytest.mark.parametrize(
    ("path", "declared", "covered"),
    [
        pytest.param("/etc/motd", "/etc/motd", True, id="the same"),
        pytest.param("/etc/motd", "/etc/passwd", False, id="another"),
        pytest.param("/var/lib/x/a/b", "/var/lib/x", True, id="below a folder"),
        pytest.param("/var/lib/xy", "/var/lib/x", False, id="a longer name"),
        pytest.param("/var/log/a.log", "/var/log/*.log", True, id="star"),
        pytest.param("/var/log/a/b.log", "/var/log/*.log", False, id="star in one part"),
        pytest.param("/var/log/a/b.log", "/var/log/**.log", True, id="two stars"),
        pytest.param("~/.cache/x/y", "~/.cache", True, id="in the home folder"),
        pytest.param("/root/.cache/x", "~/.cache", False, id="not another home folder"),
        pytest.param("/etc/motd", "{path}", True, id="an argument"),
        pytest.param("/etc/motd.bak", "{path}.bak", True, id="beside an argument"),
        pytest.param("/etc/passwd", "{path}", False, id="not beside it"),
        pytest.param("/etc/motd", "the given file", True, id="in words, given"),
        pytest.param("/etc/passwd", "the given file", False, id="in words, not given"),
        pytest.param("/usr/local/x", "/usr/../opt", False, id="dots are resolved"),
        pytest.param("(and more)", "/etc/motd", False, id="more than was kept"),
    ],
)
def test_a_changed_path_is_covered_by_what_is_declared_and_nothing_else(path, declared, covered):
    assert is_path_covered(path, (declared,), {"path": "/etc/motd"}) is covered


def test_an_argument_that_is_the_root_covers_nothing_in_words():
    assert not is_path_covered("/etc/passwd", ("the given folder",), {"folder": "/"})


def test_an_argument_is_text_in_a_pattern_and_no_pattern():
    assert not is_path_covered("/etc/passwd", ("{path}",), {"path": "/etc/*"})
    assert is_path_covered("/etc/*", ("{path}",), {"path": "/etc/*"})


def test_each_item_of_a_list_argument_is_covered():
    given: dict[str, JsonValue] = {"paths": ["/srv/a", "/srv/b"]}
    assert is_path_covered("/srv/b/x", ("{paths}",), given)
    assert not is_path_covered("/srv/c", ("{paths}",), given)


@pytest.mark.parametrize(
    ("host", "declared", "covered"),
    [
        pytest.param("api.example.com:443", "api.example.com", True, id="any port"),
        pytest.param("API.Example.com:443", "api.example.com", True, id="any case"),
        pytest.param("api.example.com:80", "api.example.com:443", False, id="another port"),
        pytest.param("api.example.com", "api.example.com:443", True, id="looked up"),
        pytest.param("api.example.com:443", "*.example.com", True, id="star"),
        pytest.param("evil.com:443", "*.example.com", False, id="another domain"),
        pytest.param("api.example.com.evil.com", "api.example.com", False, id="longer"),
        pytest.param("10.1.2.3:22", "10.0.0.0/8", True, id="network"),
        pytest.param("10.1.2.3:22", "{net}", False, id="a value is a host, not a network"),
        pytest.param("[::1]:22", "::1", True, id="v6"),
        pytest.param("[::1]:22", "[::1]:22", True, id="v6 with port"),
        pytest.param("unix:/run/docker.sock", "unix:/run/docker.sock", True, id="socket"),
        pytest.param("unix:/run/docker.sock", "localhost", False, id="socket undeclared"),
        pytest.param("shop.example:8443", "{url}", False, id="a url is no host"),
        pytest.param("shop.example:8443", "the host of the URL", True, id="in words, from a url"),
        pytest.param("other.example:8443", "the host of the URL", False, id="in words, another"),
        pytest.param("db.example:5432", "{host}:{port}", True, id="two arguments"),
        pytest.param("db.example:22", "{host}:{port}", False, id="two arguments, another port"),
        pytest.param("(and more)", "api.example.com", False, id="more than was kept"),
    ],
)
def test_a_host_is_covered_by_what_is_declared_and_nothing_else(host, declared, covered):
    given: dict[str, JsonValue] = {
        "url": "https://shop.example:8443/x",
        "host": "db.example",
        "net": "10.0.0.0/8",
        "port": 5432,
    }
    assert is_host_covered(host, (declared,), given) is covered


@pytest.mark.parametrize(
    ("command", "declared", "covered"),
    [
        pytest.param("git", "git", True, id="the same"),
        pytest.param("/usr/bin/git", "git", True, id="where the system keeps it"),
        pytest.param("git", "git status", True, id="with its words"),
        pytest.param("/usr/bin/python3.11", "python", True, id="a version of it"),
        pytest.param("/tmp/git", "git", False, id="a program of its own"),
        pytest.param("./git", "git", False, id="in the working folder"),
        pytest.param("/bin/sh", "git", False, id="a shell"),
        pytest.param("/usr/bin/git", "/usr/bin/git", True, id="by path"),
        pytest.param("/opt/x/git", "/usr/bin/git", False, id="another path"),
        pytest.param("/usr/local/bin/tar", "{program}", True, id="an argument"),
    ],
)
def test_a_program_is_covered_by_what_is_declared_and_nothing_else(command, declared, covered):
    assert is_command_covered(command, (declared,), {"program": "tar"}) is covered


def test_effects_beyond_what_is_declared_are_listed_one_by_one():
    assert exceeded(SEEN) == (
        "changes ~/.bashrc",
        "reaches evil.example:443",
        "starts /bin/sh",
    )


def test_effects_as_declared_are_no_finding():
    declared = effects("~/.bashrc", "evil.example", "sh")
    assert judge_effects(tool(effects=declared), SEEN, {}) == judge_effects(
        tool(effects=declared), ObservedEffects(), {}
    )


def test_a_default_counts_as_given():
    found = tool(
        effects=effects("the given file"), signature="path: str = '/etc/motd', dry_run: bool = True"
    )
    assert judge_effects(found, ObservedEffects(paths=("/etc/motd",)), {}).exceeded == ()


def test_a_read_tool_that_changes_a_file_is_refused_whatever_paths_it_declares():
    found = judge_effects(tool("read", effects("~/.bashrc", "*", "*")), SEEN, {})
    assert found.exceeded == ("changes ~/.bashrc (Kind: read)",)


def test_a_read_tool_that_declares_no_effects_may_still_not_change_files():
    assert judge_effects(tool("read"), SEEN, {}).exceeded == ("changes ~/.bashrc (Kind: read)",)


def test_a_read_tool_that_writes_where_it_works_is_refused_as_anywhere():
    seen = ObservedEffects(paths=("/tmp/report.txt",))
    found = judge_effects(tool("read", effects(), signature="path: str = ''"), seen, {})
    assert found.exceeded == ("changes /tmp/report.txt (Kind: read)",)


def test_a_write_tool_may_stage_beside_what_it_replaces_and_not_where_dry_run_is_true():
    seen = ObservedEffects(paths=("/tmp/.report.md.1f.tmp",))
    assert exceeded(seen, paths="the given path") == ()
    assert exceeded(seen, {"dry_run": True}, paths="the given path")


def test_a_read_tool_that_takes_dry_run_is_refused_since_only_its_dry_half_is_ever_seen():
    found = judge_effects(tool("read", effects()), ObservedEffects(), {})
    assert found.exceeded == ("takes dry_run, as only what writes does (Kind: read)",)


def test_a_write_tool_that_changes_files_although_dry_run_is_true_is_refused():
    found = judge_effects(tool(effects=effects("~/.bashrc", "*", "*")), SEEN, {"dry_run": True})
    assert found.exceeded == ("changes ~/.bashrc (dry_run is true)",)
    assert exceeded(SEEN, {"dry_run": False}, paths="~/.bashrc", hosts="*", commands="*") == ()


def test_undeclared_effects_are_reported_and_the_tool_counts_as_write():
    found = tool("read", signature="path: str = ''")
    seen = ObservedEffects(commands=("uname",))
    judged = judge_effects(found, seen, {})
    assert (judged.exceeded, judged.undeclared) == ((), ("starts uname",))
    assert get_effective_kind(found, seen) == "write"
    assert get_effective_kind(found, ObservedEffects()) == "read"
    assert get_effective_kind(tool("read", effects(commands="uname")), seen) == "read"


def test_a_kind_on_record_never_makes_a_tool_more_harmless():
    assert [get_stricter_kind("read", other) for other in ("write", "read", None)] == [
        "write",
        "read",
        "read",
    ]
    assert get_stricter_kind("write", "read") == "write"


def dry(found, observed, source=b""):
    ok = SandboxOutcome("ok", "done", value=1, observed=observed)
    run = DryRun(Subject(source, Path("/x/double.py"), found), LIMITS, lambda job, limits: ok)
    assert run.import_smoke().ok
    return run.dry_run()


def test_the_dry_run_is_refused_with_the_list():
    many = ObservedEffects(paths=tuple(f"/etc/{n}" for n in range(9)))
    finding = dry(tool(effects=effects()), many)
    assert not finding.ok
    assert "and 4 more" in finding.message
    assert all(f"changes /etc/{n}" in finding.output for n in range(9))


def test_the_dry_run_passes_and_reports_what_is_undeclared():
    finding = dry(tool(kind=""), ObservedEffects(commands=("uname", "id")))
    assert finding.ok
    assert finding.warnings == (
        "no Effects: are declared, and it starts uname, starts id: "
        "it counts as write when it is run",
    )


@pytest.mark.sandbox
def test_a_real_attempt_to_write_beyond_the_declaration_is_caught_though_it_fails():
    outcome = sandboxed(
        """
        from pathlib import Path
        def run():
            try:
                Path("/etc/cron.d/x").write_text("x")
            except OSError:
                pass
            return 1
        """
    )
    assert exceeded(outcome.observed) == ("changes /etc/cron.d/x",)


LEFT = ObservedEffects(others=("leaves thread 'x' running",))
KILLS = ObservedEffects(others=("signals process 1",))


@pytest.mark.parametrize("seen", [LEFT, KILLS], ids=["thread left", "signal"])
def test_signals_and_threads_left_running_are_judged_as_changes(seen):
    (item,) = seen.others
    assert judge_effects(tool(kind="read"), seen, {}).exceeded == (f"{item} (Kind: read)",)
    tried = judge_effects(tool(), seen, {"dry_run": True})
    assert tried.exceeded == (f"{item} (dry_run is true)",)
    assert judge_effects(tool(kind=""), seen, {}).undeclared == (item,)
    assert exceeded(seen) == (item,)


def test_a_signal_is_declared_as_the_program_kill():
    assert exceeded(KILLS, commands="kill") == ()
    assert exceeded(LEFT, commands="kill") == LEFT.others


def test_a_system_call_that_is_refused_is_declared_by_its_name():
    seen = ObservedEffects(others=("calls reboot",))
    assert exceeded(seen, commands="reboot") == ()
    assert exceeded(seen, commands="kill") == seen.others
    assert judge_effects(tool("read", effects(commands="reboot")), seen, {}).exceeded
