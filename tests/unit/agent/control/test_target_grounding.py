"""A write acts only on what the user or a result named."""

import pytest

from tests.call_verdicts import (
    NGINX,
    code_of,
    control,
    details_of,
    edit,
    error_of,
    restart,
    write_command,
)


def test_a_service_that_nobody_named_is_not_restarted():
    refusal = control(said="restart the web server").refuse(restart())
    assert code_of(refusal) == "INVALID_INPUT"
    assert details_of(refusal)["reason"] == "ungrounded"


def test_a_refusal_says_what_was_named_instead():
    refusal = control(said="restart nginx-proxy").refuse(restart())
    assert "nginx-proxy" in details_of(refusal)["suggestions"]
    assert "nginx-proxy" in error_of(refusal).message


@pytest.mark.parametrize(
    "said", ["restart nginx", "restart `nginx`", "(nginx)", "is Nginx.service down?", NGINX.id]
)
def test_a_named_service_is_grounded(said):
    assert control(said=said).refuse(restart()) is None


def test_a_name_in_a_result_is_grounded():
    seen = [{"services": [{"name": "nginx.service", "state": "failed"}]}]
    assert control(said="restart what failed", seen=seen).refuse(restart()) is None


@pytest.mark.parametrize("said", ["edit /etc/hosts", "put it into /etc as hosts", "'/etc/hosts'."])
def test_a_named_file_is_grounded(said):
    assert control(said=said).refuse(edit("/etc/hosts", "anything at all")) is None


@pytest.mark.parametrize("path", ["/etc/hosts2", "/etc/passwd", "/tmp/hosts"])
def test_a_file_that_nobody_named_is_not_written(path):
    assert code_of(control(said="edit /etc/hosts").refuse(edit(path, "x"))) == "INVALID_INPUT"


@pytest.mark.parametrize(
    "command",
    [
        "rm /var/log/other.log",
        "systemctl restart postgres",
        "docker restart db",
        "sed -i s/a/b/ /etc/other.conf",
        "echo x > /etc/other.conf",
        "find /var/other -name '*.gz' -delete",
        "chmod 644 /etc/other.conf",
        "sh -c 'true' ; rm other.log",
    ],
)
def test_a_command_on_a_target_that_nobody_named_is_refused(command):
    rules = control(said="restart nginx, clean /var/log/app and edit /etc/app.conf")
    assert code_of(rules.refuse(write_command(command))) == "INVALID_INPUT"


@pytest.mark.parametrize(
    "command",
    [
        "rm /var/log/app/a.log",
        "systemctl restart nginx",
        "docker container restart web",
        "sed -i s/a/b/ /etc/app.conf",
        "find /var/log/app -name '*.gz' -delete",
        "chmod 644 /etc/app.conf",
        "rm /var/log/app/*.gz",
        "systemctl restart nginx > /dev/null",
    ],
)
def test_a_command_on_named_targets_passes(command):
    said = "restart nginx and web, clean /var/log/app of a.log, edit /etc/app.conf"
    assert control(said=said).refuse(write_command(command)) is None
