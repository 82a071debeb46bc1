"""The read that verifies a change: derived only from a command that is understood whole."""

import pytest

from pulsus.commands import classify
from pulsus.gates.verifying_read import verifying_read


@pytest.mark.parametrize(
    ("command", "read", "expected"),
    [
        ("systemctl restart nginx", "systemctl is-active 'nginx'", "active"),
        ("sudo systemctl stop my.service", "systemctl is-active 'my.service'", "inactive"),
        ("systemctl enable --now nginx", "systemctl is-enabled 'nginx'", "enabled"),
        ('systemctl reload "a\'b"', "systemctl is-active 'a'\\''b'", "active"),
    ],
)
def test_a_change_of_one_service_is_verified_by_a_proven_read(command, read, expected):
    found = verifying_read(command, "agent")
    assert found is not None
    assert found.command == read
    assert expected in found.expected
    assert classify(found.command).allow


@pytest.mark.parametrize(
    "command",
    [
        "systemctl restart nginx redis", "systemctl restart nginx; rm x", "systemctl restart $(x)",
        "docker restart web", "qm stop 101", "kubectl rollout restart deployment/api", "rm x", "",
        "systemctl restart nasty'name",
    ],
)  # fmt: skip
def test_other_commands_have_no_verifying_command(command):
    assert verifying_read(command, "agent") is None
