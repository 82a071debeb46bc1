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
    "manager": ["systemctl show-environment", "systemctl --user show-environment"],
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


@pytest.mark.parametrize(
    "command",
    [
        "kubectl get pods -o 'jsonpath={..value}'",
        "kubectl get pods -o 'jsonpath={..containers[*]..value}'",
        "kubectl get pods -o 'jsonpath={..*}'",
        "kubectl get pods -o custom-columns=V:..value",
        "oc get pods --output='jsonpath={..value}'",
        "kubectl get pods -o go-template-file=f",
        "kubectl get pods -o jsonpath-file=f",
        "kubectl get pods -o custom-columns-file=f",
        """docker inspect -f '{{printf "%x" .Config}}' web""",
        """docker inspect --format='{{split (json .Config) "="}}' web""",
        """podman inspect -f '{{slice (json .Config) 30 60}}' web""",
        """docker inspect -f '{{index .Config (join (split "E nv" " ") "")}}' web""",
        "docker config inspect app",
        "docker inspect web | base64",
        "docker inspect web | head -n 40 | xxd",
        "timeout 5 docker inspect web | rev",
        "ssh web1 docker inspect web | base64",
        "docker inspect web | tr a-z n-za-m",
        "docker inspect web | tr = ' '",
        "docker inspect web | grep -o 'PASSWORD=.*'",
        "docker inspect web | grep -oP '(?<=PASSWORD=).*'",
        "docker inspect web | cut -d= -f2",
        "docker inspect web | cut -d '=' -f2",
        "docker inspect web | sed 's/.*=//'",
        "docker inspect web | awk -F= '{print $2}'",
        "systemctl show web | awk 'BEGIN {FS = \"=\"} {print $3}'",
        "gcloud functions list --format=json",
        "gcloud run services list --format yaml",
        "docker inspect web | jq '.[0].Config.Env'",
        "docker inspect web | jq -r '.[0].Config | @base64'",
        "kubectl get pods -o json | jq -r '.items[].spec.containers[].env[].value'",
        "kubectl get pods -o json | jq '..|.value?'",
    ],
)
def test_values_without_the_names_that_the_redactor_knows_are_refused(command):
    verdict = classify(command)
    assert not verdict.allow
    assert verdict.sensitive or command.startswith("docker config")


@pytest.mark.parametrize(
    "command",
    [
        """docker inspect -f '{{(index (index .NetworkSettings.Ports "80/tcp") 0).HostPort}}' w""",
        """docker inspect -f '{{index .Config.Labels "com.example"}}' web""",
        """docker ps --format '{{slice .ID 0 4}} {{upper .Names}}'""",
        "kubectl get nodes -o jsonpath='{.items[*].spec.taints[*].value}'",
        "docker config inspect --pretty app",
        "docker inspect web | jq '.[0].State'",
        "docker inspect web | tr -d '\"'",
        "docker inspect web | tr A-Z a-z",
        "docker logs web | gzip -c",
        "kubectl describe pod x | awk '{print $2}'",
        "kubectl get pods -o json | grep -c Running",
        "systemctl show web | sed -n 5p",
        "gcloud run services list --format='value(name)'",
        "gcloud run services list",
        "docker ps; cat x | base64",
    ],
)
def test_parts_of_a_description_stay_reads(command):
    verdict = classify(command)
    assert verdict.allow, verdict.reason


@pytest.mark.parametrize(
    "command",
    [
        "printf '%s\\0' -f '{{.Config.Env}}' web | xargs -0 docker inspect",
        "cat list | xargs docker inspect",
        "cat list | xargs -I{} docker inspect {}",
        "cat list | xargs -n1 podman inspect",
    ],
)
def test_words_from_a_pipe_do_not_ask_for_an_environment(command):
    assert not classify(command).allow


def test_listed_containers_may_be_described():
    assert classify("docker ps -q | head -n 3 | xargs docker inspect -f '{{.Name}}'").allow


@pytest.mark.parametrize(
    "command",
    [
        "docker stack config -c x.yml",
        "docker stack config --compose-file=x.yml",
        "helm status web -o yaml",
        "helm status web --output=json",
        "npm get _auth",
        "npm get //registry.npmjs.org/:_authToken",
        "npm c get _password",
        "npm config get registry _auth",
        """mongosh --eval 'db.adminCommand({getParameter:"*"})'""",
        """mongosh --eval 'db.adminCommand({getParameter:{allParameters:true}})'""",
        "kubectl get cm x -o jsonpath='{.data.password}'",
        "kubectl get cm x -o 'go-template={{index .data \"db_password\"}}'",
    ],
)
def test_settings_that_users_gave_as_values_are_not_printed(command):
    assert not classify(command).allow
