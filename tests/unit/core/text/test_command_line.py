"""Requests that are command lines (spec §6): what they change stands behind the program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.rankers.effect_mismatch import (
    command_mismatch,
    commands,
    effect_mismatch,
    groups_of,
)
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.text.command_line import find_change, find_program
from tests.ranking import tool


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ip route add", ("add",)),
        ("ip -6 route add 2001:db8::/32 dev eth0", ("add",)),
        ("ip link set eth0 down", ("set",)),
        ("docker stop web", ("stop",)),
        ("docker container rm web", ("rm",)),
        ("sudo systemctl restart nginx", ("restart",)),
        ("$ kubectl -n web delete pod x", ("delete",)),
        ("terraform apply", ("apply",)),
        ("docker compose up", ("up",)),
        ("docker compose up -d", ("up",)),
        ("docker compose -f prod.yaml down", ("down",)),
        ("docker-compose up web", ("up",)),
        ("vagrant up", ("up",)),
        ("nmcli connection up office", ("up",)),
        ("systemctl daemon-reload", ("daemon-reload",)),
        ("docker network connect front web", ("connect",)),
        ("git push", ("push",)),
        ("apt upgrade", ("upgrade",)),
        ('git commit -m "fix the bug"', ("commit",)),
        ("docker ps -q | xargs docker rm", ("rm",)),
        ("ps aux | xargs kill -9", ("kill",)),
        ("docker stop web && docker rm web", ("stop", "rm")),
    ],
)
def test_the_word_behind_the_program_says_what_is_changed(line, expected):
    assert find_change(line) == commands(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("crontab -r", ("crontab",)),
        ("sysctl -w vm.swappiness=10", ("sysctl",)),
        ("tar xzf a.tgz", ("tar",)),
        ("find /tmp -name x -delete", ("find",)),
        ("journalctl --vacuum-time=2d", ("journalctl",)),
    ],
)
def test_a_flag_makes_a_change_of_a_program_that_looks(line, expected):
    assert find_change(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "df -h",
        "docker ps",
        "ip route show",
        "ip route get 192.0.2.1",
        "kubectl get pods",
        "kubectl rollout status deploy/web",
        "systemctl status nginx",
        "systemctl list-units --failed",
        "terraform plan",
        "crontab -l",
        "tar tzf a.tgz",
        "apt list --upgradable",
        "unzip -l a.zip",
        "mount -l",
        "apt-get -s upgrade",
        "terraform apply --dry-run",
        "sort -nr | head -10",
    ],
)
def test_a_command_that_looks_changes_nothing(line):
    assert find_change(line) == commands(line) == ()


@pytest.mark.parametrize(
    "request_text",
    [
        "",
        "|",
        "$ ",
        "mount",
        "docker",
        "show disk usage",
        "docker containers up",
        "are my compose services up",
        "is docker compose up",
        "vagrant machines up or down",
        "which docker containers stop at night",
        "apt updates pending",
        "tar archive contents",
        "restart the docker service",
        "rm -rf /tmp/x",
    ],
)
def test_a_sentence_is_no_command_line_and_a_verb_is_read_as_before(request_text):
    assert find_change(request_text) is None


@pytest.mark.parametrize("request_text", ["docker restart count", "systemctl restart loop"])
def test_a_noun_behind_a_program_changes_nothing(request_text):
    assert find_change(request_text) == ()


def test_a_tool_that_reads_routes_is_not_sure_of_adding_one():
    table = tool("network/routes/route_table", "Show the routing table.", kind="read")
    for line, odd in (("ip route add", True), ("ip route show", False)):
        assert bool(effect_mismatch(commands(line), groups_of(line), table)) is odd


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("helm list", ("helm", "list")),
        ("sudo docker -H tcp://h ps | grep web", ("docker", "tcp://h", "ps")),
        ("df -h", None),
        ("list the helm releases", None),
    ],
)
def test_a_typed_command_is_one_of_its_program(line, expected):
    assert find_program(line) == expected


COMPARE = tool(
    "data/compare/diff_documents",
    "Compare two documents.",
    kind="read",
    args=("list",),
    intents=("helm values files",),
)


@pytest.mark.parametrize(
    ("known", "fits"),
    [
        pytest.param(COMPARE, False, id="a hint that speaks of something else"),
        pytest.param(tool("vm/list/machines", "List machines."), False, id="no word of it"),
        pytest.param(tool("k8s/list/charts", "What helm installed."), True, id="its own words"),
        pytest.param(
            tool("k8s/list/releases", "List releases.", intents=("helm releases",)),
            True,
            id="a hint, and its own deed",
        ),
        pytest.param(
            tool("k8s/show/releases", "Releases.", intents=("helm list",)), True, id="a hint alone"
        ),
    ],
)
def test_a_typed_command_is_answered_by_what_speaks_of_its_program(known, fits):
    assert (command_mismatch(("helm", "list"), known) is None) is fits


def test_a_word_of_a_typed_command_does_not_make_another_tool_sure():
    (best,) = Ranker.build([COMPARE]).rank("helm list", limit=1)
    assert "helm" in str(best.caution)
    (best,) = Ranker.build([COMPARE]).rank("compare helm values files", limit=1)
    assert best.caution is None


@given(st.text(alphabet="abip -|&;$'\"xztar/", max_size=60))
def test_any_text_is_read_without_an_error(text):
    found = find_change(text)
    assert found is None or all(found)
