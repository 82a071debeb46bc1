"""Verbs, kinds of change and broad lists."""

import pytest

from pulsus.gates.action_labels import action_class, is_destructive, is_read_only, is_write


@pytest.mark.parametrize(
    ("verb", "write"),
    [("get", False), (" List ", False), ("logs", False), ("", False), ("restart", True),
     ("exec", True), ("frobnicate", True), ("get_and_delete", True)],
)  # fmt: skip
def test_a_verb_that_is_not_known_to_read_writes(verb, write):
    assert is_write(verb) is write


@pytest.mark.parametrize(
    ("command", "target", "kind"),
    [
        ("systemctl restart nginx", "agent", "service-restart"),
        ("sudo systemctl restart nginx", "agent", "service-restart"),
        ("systemctl restart nginx redis", "agent", ""),
        ("systemctl restart nginx; rm x", "agent", ""),
        ("systemctl restart nginx > out", "agent", ""),
        ("systemctl restart $(x)", "agent", ""),
        ("systemctl restart nginx", "kubernetes", ""),
        ("qm shutdown 101", "agent", "proxmox-vm-shutdown"),
        ("pct start 200", "agent", "proxmox-ct-start"),
        ("docker start web", "docker", "container-start"),
        ("kubectl rollout restart -n prod deployment/api", "kubernetes", "k8s-rollout-restart"),
        ("rm x", "agent", ""),
        ("", "agent", ""),
    ],
)
def test_a_change_has_a_kind_only_where_every_word_is_known(command, target, kind):
    assert action_class(command, target) == kind


@pytest.mark.parametrize(
    ("command", "destructive"),
    [
        ("rm -rf x", True),
        ("RM -rf x", True),
        ("ls; zfs destroy x", True),
        ("bash -c 'dd if=a of=b'", True),
        ("echo $(rm x)", True),
        ("systemctl stop x", True),
        ("systemctl status x", False),
        ("find / -name rm", False),
        ("mkdir x", False),
        ("", False),
    ],
)
def test_what_may_lose_something_is_destructive(command, destructive):
    assert is_destructive(command) is destructive


@pytest.mark.parametrize(
    ("command", "reads"),
    [("df -h", True), ("DF -h", True), ("ps aux | grep x", True), ("rm x", False), ("", False)],
)
def test_a_proven_read_is_on_the_list_of_reads(command, reads):
    assert is_read_only(command) is reads
