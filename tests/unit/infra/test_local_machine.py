"""The inventory of this machine."""

import ipaddress
import os
import shutil
import socket

import pytest

from pulsus.infra.containers import ContainerEngine, EngineSilent
from pulsus.infra.inventory import CONTAINER, HOST, PROCESS, SERVICE
from pulsus.infra.local_command import LocalCommands
from pulsus.infra.local_machine import LocalMachine
from pulsus.infra.processes import important_processes, own_addresses


@pytest.fixture
def machine(tmp_path):
    return LocalMachine(os.environ, tmp_path / "machine-id")


def test_the_id_of_the_host_holds_the_id_of_the_machine(tmp_path):
    (tmp_path / "machine-id").write_text("0123456789abcdef0123456789abcdef\n", encoding="utf-8")
    host = LocalMachine({}, tmp_path / "machine-id").host
    name = socket.gethostname()
    assert host.id == f"host:{name}:0123456789ab"
    assert {name, "localhost"} <= set(host.names)


def test_a_machine_without_an_id_is_known_by_its_name(machine):
    name = socket.gethostname()
    assert machine.host.id == f"host:{name}:{name}"


def test_only_the_asked_kinds_are_looked_for(machine):
    kinds = {each.resource.kind for each in machine.list_resources((HOST,)).entries}
    assert kinds == {HOST}


def test_every_backend_that_cannot_be_asked_says_why(machine):
    listing = machine.list_resources((SERVICE, CONTAINER))
    names = {state.name for state in listing.backends}
    assert {"systemd", "supervisord", "runit", "init scripts", "containers"} == names
    kinds = {each.resource.kind for each in listing.entries}
    assert kinds or all(state.reason for state in listing.backends if state.name == "systemd")


def test_an_unknown_id_is_no_resource(machine):
    assert machine.get("service:elsewhere:nothing") is None
    assert machine.get("vm:pve:101") is None


def test_a_process_that_listens_is_listed_with_its_port_and_a_lasting_id(machine):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        entries = machine.list_resources((PROCESS,)).entries
        own = [each for each in entries if each.details["pid"] == os.getpid()]
    assert len(own) == 1
    assert port in own[0].details["ports"]
    assert own[0].resource.uid.startswith(f"{os.getpid()}-")
    assert str(os.getpid()) in own[0].resource.names


def test_the_list_of_processes_is_bounded():
    assert len(important_processes()) <= 40


def test_services_share_the_files_of_their_host_and_containers_do_not(machine):
    service = machine._child(SERVICE, "web", "web", (), ("start",))
    container = machine._child(CONTAINER, "abc", "web", (), ("start",), machine.host.id)
    assert (service.parent, service.target_host) == ("", machine.host.name)
    assert (container.parent, container.target_host) == (machine.host.id, "web")


def test_containers_are_listed_if_an_engine_answers():
    engine = ContainerEngine(LocalCommands(os.environ))
    try:
        found = engine.containers()
    except EngineSilent as silent:
        pytest.skip(f"no container engine here: {silent}")
    assert all(each.id and each.name for each in found)


@pytest.mark.skipif(shutil.which("true") is None, reason="needs coreutils")
def test_a_program_that_hangs_is_ended_in_time():
    result = LocalCommands({}).run(("sleep", "20"), seconds=0.2)
    assert result is not None
    assert result.status is None
    assert not result.cancelled


def test_a_program_that_is_not_installed_is_no_result():
    assert LocalCommands({}).run(("no-such-program-of-pulsus",)) is None


def test_no_interface_of_this_machine_is_left_out_of_its_own_addresses():
    found = own_addresses()
    assert "127.0.0.1" in found
    # Scopes such as %eth0 would make an address unlike itself.
    assert all(ipaddress.ip_address(each) for each in found)
    assert not any("%" in each for each in found)
