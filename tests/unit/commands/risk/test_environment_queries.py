"""One rule for environments: asked for by name they are refused, in a description allowed."""

import pytest

from pulsus.commands import classify
from pulsus.core.telemetry.redaction import redact

BY_NAME = {
    "process": ["ps axe", "ps -axe", "cat /proc/1/environ", "ps -o pid,environ"],
    "docker": ["docker inspect -f '{{.Config.Env}}' web", "docker compose config --environment"],
    "podman": ["podman inspect --format '{{json .Config.Env}}' web"],
    "nerdctl": ["nerdctl inspect -f '{{.Config.Env}}' web"],
    "cri": ["crictl inspect -o go-template --template '{{.info.config.envs}}' abc"],
    "kubernetes": ["kubectl get pod p -o jsonpath='{.spec.containers[*].env}'"],
    "openshift": ["oc get pod p -o jsonpath='{.spec.containers[*].env}'"],
    "service": ["systemctl show -p Environment web", "systemctl show -pId,Environment web"],
    "nomad": ["nomad job inspect -t '{{.TaskGroups.Tasks.Env}}' web"],
    "lxc": ["lxc config get web environment.DB", "incus config get web environment.DB"],
    "core": ["coredumpctl -F COREDUMP_ENVIRON", "journalctl -F COREDUMP_ENVIRON"],
    "journal": ["journalctl --output-fields=COREDUMP_ENVIRON -o cat"],
}
DESCRIBED = {
    "docker": "docker inspect web",
    "podman": "podman inspect web",
    "cri": "crictl inspect abc",
    "kubernetes": "kubectl get pod p -o yaml",
    "openshift": "oc describe pod p",
    "service": "systemctl show web",
    "nomad": "nomad job inspect web",
    "lxc": "lxc config show web",
    "proxmox": "pct config 100",
    "core": "coredumpctl info 42",
    "journal": "journalctl -u web -o json -n 5",
}


@pytest.mark.parametrize(
    "command", [command for commands in BY_NAME.values() for command in commands]
)
def test_an_environment_asked_for_by_name_is_refused(command):
    assert not classify(command).allow


@pytest.mark.parametrize("command", DESCRIBED.values())
def test_a_description_that_holds_an_environment_is_a_read(command):
    verdict = classify(command)
    assert verdict.allow, verdict.reason


@pytest.mark.parametrize(
    "shown",
    [
        '"Env": ["DB_PASSWORD=hunter2-x", "PATH=/bin"]',
        "Environment=DB_PASSWORD=hunter2-x LANG=C",
        "- name: DB_PASSWORD\n  value: hunter2-x",
        "environment.API_TOKEN: hunter2-x",
        '"COREDUMP_ENVIRON" : "DB_PASSWORD=hunter2-x\\nPATH=/bin"',
        "lxc.environment: DB_PASSWORD=hunter2-x",
    ],
)
def test_the_redactor_hides_the_secrets_of_a_description(shown):
    assert "hunter2-x" not in redact(shown)
