"""A call is confined by its contract, its inputs and the machine (ADR 28)."""

import os

import pytest

from pulsus.core.sandbox.isolation.bpf import ARCHES
from pulsus.core.types import Effects
from pulsus.execution.confinement import declared_effects
from pulsus.execution.confinement.choose_confinement import RunLimits, plan_confinement
from pulsus.execution.confinement.kernel_support import KernelSupport
from pulsus.execution.confinement.syscall_filter import Filter, build_syscall_filter, names
from tests.compositions import arg, spec

NEW = KernelSupport(7, True, True, True, ())
LIMITS = RunLimits()


def tool(*args, kind="read", **effects):
    return spec("a/b/tool", *args, kind=kind, effects=Effects(**effects))


def held(made, inputs=None, here=NEW, reads=True):
    return plan_confinement([made], inputs or {}, LIMITS, here, reads=reads).record


@pytest.mark.parametrize(
    ("paths", "commands", "files"),
    [
        ((), (), "landlock"),
        (("/proc/meminfo", "/proc/net/dev", "/proc/mounts"), (), "landlock"),
        (("/proc",), (), "supervised"),
        (("/proc/*/status",), (), "supervised"),
        (("/proc/{pid}/fd",), (), "supervised"),
        ((), ("ss -tlnp",), "supervised"),
        ((), ("/usr/bin/ps",), "supervised"),
        ((), ("systemctl list-units",), "landlock"),
    ],
)
def test_a_tool_about_other_processes_is_not_put_into_a_domain(paths, commands, files):
    assert held(tool(paths=paths, commands=commands))["files"] == files


def test_the_plan_names_missing_parts_of_the_machine():
    made = tool(paths=("/proc",))
    assert (
        held(made, here=KernelSupport(7, True, False, True, ("old kernel",)))["files"] == "landlock"
    )
    assert "hidden" in str(
        held(made, here=KernelSupport(7, True, False, True, ("old kernel",)))["why"]
    )
    assert held(tool(), here=KernelSupport(2, True, True, True, ("old",)))["files"] == "supervised"
    none = plan_confinement(
        [tool()], {}, LIMITS, KernelSupport(0, True, False, True, ("nothing",)), reads=True
    )
    assert none.orders is None
    assert (none.record["files"], none.record["why"]) == ("none", ["nothing"])


@pytest.mark.parametrize(
    ("hosts", "inputs", "network", "found"),
    [
        ((), {}, "none", []),
        (("api.example.org:443",), {}, "gate", ["api.example.org:443"]),
        (("{host}:{port}",), {"host": "h.example", "port": 5}, "gate", ["h.example:5"]),
        (("the given host",), {"host": "h.example"}, "gate", ["h.example"]),
        (("the given host",), {"host": "https://h.example:8443/x"}, "gate", ["h.example:8443"]),
        (("the given host",), {"host": ""}, "gate", []),
        (("*.example.org",), {}, "undecided", []),
        (("{missing}",), {}, "undecided", []),
        (("the host of the URL and those it redirects to",), {"host": "h"}, "undecided", []),
        (("whatever it likes",), {"host": "h"}, "undecided", []),
        (("unix:/run/x.sock",), {}, "none", []),
    ],
)
def test_hosts_are_a_gate_only_where_they_are_certain(hosts, inputs, network, found):
    made = tool(arg("host"), arg("port", "int"), hosts=hosts)
    told = held(made, inputs)
    assert told["network"] == network
    assert sorted(map(str, told["hosts"] or [])) == sorted(found)


def test_a_step_with_hosts_in_words_is_undecided():
    first, step = tool(), tool(arg("host"), hosts=("the given host",))
    told = plan_confinement([first, step], {"host": "h.example"}, LIMITS, NEW, reads=True).record
    assert told["network"] == "undecided"


@pytest.mark.parametrize(
    ("paths", "inputs", "where"),
    [
        (("{path}",), {"path": "in/a"}, "in"),
        (("{path}",), {"path": "in"}, "in"),
        (("the given path",), {"path": "in/a", "text": "out/b"}, "in"),
        (("{path}",), {"path": "in/../out/a"}, "out"),
        (("{path}",), {"path": "link/a"}, "out"),
        (("{path}",), {"path": "in/new/deep/a"}, "in"),
        (("/etc/new.conf",), {}, None),
        (("in/*",), {}, None),
        (("what the text names",), {"text": "in/a"}, None),
        (("the given path and its backup",), {"path": "in/a"}, None),
    ],
)
def test_folders_are_those_of_certain_paths(tmp_path, monkeypatch, paths, inputs, where):
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    found = declared_effects.declared_folders(
        tool(arg("path"), arg("text"), kind="write", paths=paths), inputs
    )
    expected = None if where is None else (os.path.realpath(tmp_path / where),)
    assert found == expected


@pytest.mark.parametrize("machine", ARCHES)
@pytest.mark.parametrize("network", ["none", "gate", "open"])
@pytest.mark.parametrize("landlock", [True, False])
def test_a_filter_is_made_for_each_processor(machine, network, landlock):
    shape = Filter(landlock, landlock, True, network)
    code = build_syscall_filter(shape, machine)
    assert len(code) % 8 == 0
    assert len(code) // 8 < 4096  # BPF_MAXINSNS
    assert {"chmod" if machine == "x86_64" else "fchmodat", "connect"} <= set(
        names(machine).values()
    )
