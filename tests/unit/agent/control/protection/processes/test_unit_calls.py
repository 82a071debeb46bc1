"""No call starts or ends a unit of Pulsus, or plants one, by its program or over its bus."""

import pytest

from pulsus.agent.control.protection.processes.process_signals import find_ended
from tests.unit.agent.control.protection.processes.test_process_signals import FAMILY, OWN, call

MANAGER = "org.freedesktop.systemd1"
OBJECT = "/org/freedesktop/systemd1"


@pytest.mark.parametrize(
    "command",
    [
        *("systemctl start 'puls*'", "systemctl restart 'p[u]lsus*'", "systemctl start '*'"),
        *("systemctl start pulsus.slice", "systemctl start pulsus-serve.service"),
        *("systemctl start pulsus@1.socket", "systemctl unmask 'puls?s-serve*'"),
        *("systemctl enable PULSUS.timer", "systemctl start 'pul*.timer'"),
    ],
)
def test_a_unit_named_for_pulsus_is_not_started_in_any_spelling(command):
    assert find_ended(call(command), FAMILY, OWN)


@pytest.mark.parametrize(
    "command",
    [
        *("systemctl link /tmp/x.service", "systemctl enable --now /tmp/x.timer"),
        *("systemctl start /tmp/x.service", "systemctl --user reenable ./x.service"),
        *("systemctl set-environment LD_PRELOAD=/x.so", "systemctl import-environment PATH"),
        "dbus-update-activation-environment --systemd LD_PRELOAD=/x.so",
        "dbus-update-activation-environment --all",
    ],
)
def test_no_unit_and_no_loader_variable_is_planted(command):
    assert find_ended(call(command), FAMILY, OWN)


@pytest.mark.parametrize(
    "command",
    [
        f"busctl call {MANAGER} {OBJECT} {MANAGER}.Manager KillUnit ssi user.slice all 9",
        f"busctl call {MANAGER} {OBJECT} {MANAGER}.Manager StartUnit ss Get Get",
        f"busctl --user call {MANAGER} {OBJECT} {MANAGER}.Manager LinkUnitFiles asbb 1 /x 0 0",
        f"busctl set-property {MANAGER} {OBJECT} {MANAGER}.Manager LogLevel s debug",
        f"dbus-send --system --dest={MANAGER} {OBJECT} {MANAGER}.Manager.StartUnit string:x",
        f"gdbus call --system -d {MANAGER} -o {OBJECT} -m {MANAGER}.Manager.SetEnvironment x",
        f"gdbus call --system --dest={MANAGER} --method={MANAGER}.Manager.KillUnit x",
        f"qdbus --system {MANAGER} {OBJECT} {MANAGER}.Manager.StopUnit x replace",
        "busctl call org.freedesktop.login1 /org/freedesktop/login1 x.Manager KillUser ui 0 9",
    ],
)
def test_no_call_over_the_bus_starts_or_ends_a_unit(command):
    assert find_ended(call(command), FAMILY, OWN)


@pytest.mark.parametrize(
    "command",
    [
        *("systemctl start nginx", "systemctl restart 'php*'", "systemctl enable --now nginx"),
        *("systemctl start /mnt/data", "systemctl status 'puls*'", "systemctl cat pulsus-x"),
        *("systemctl list-units 'pulsus*'", "systemctl reset-failed '*'", "busctl list"),
        *("systemctl --user import-environment DISPLAY", "systemctl start pulse.service"),
        "dbus-update-activation-environment --systemd DISPLAY XAUTHORITY",
        f"busctl call {MANAGER} {OBJECT} {MANAGER}.Manager GetUnit s nginx.service",
        f"busctl introspect {MANAGER} {OBJECT}",
        f"dbus-send --system --dest={MANAGER} {OBJECT} {MANAGER}.Manager.ListUnits",
        f"gdbus call -y -d {MANAGER} -o {OBJECT} -m {MANAGER}.Manager.ListUnits",
        "busctl call org.bluez /org/bluez org.bluez.Adapter1 StartDiscovery",
    ],
)
def test_other_units_and_looks_over_the_bus_are_no_false_alarm(command):
    assert find_ended(call(command), FAMILY, OWN) == ""
