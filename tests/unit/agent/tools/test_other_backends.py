"""Tools whose backend is missing say so, and fake nothing."""

import pytest

from pulsus.commands.execution_plan import find_program
from tests.agent_calls import call, code, data


def test_no_mail_gateway_is_connected(tools):
    for kind in ("status", "mail_stats", "queues", "spam"):
        assert tools.by_name["pulsus_pmg"].needs({"type": kind}).unavailable
        outcome = call(tools, "pulsus_pmg", {"type": kind})
        assert code(outcome) == "EXECUTION_CONTEXT_UNAVAILABLE"


@pytest.mark.parametrize("kind", ["scale", "restart", "delete_pod", "exec", "logs"])
def test_nothing_of_a_cluster_is_changed(tools, kind):
    outcome = call(tools, "pulsus_kubernetes", {"type": kind}, consent="yes")
    assert code(outcome) == "EXECUTION_CONTEXT_UNAVAILABLE"


def test_a_cluster_that_is_not_configured_is_named(tools, tmp_path):
    from dataclasses import replace

    from pulsus.agent.tools.kubernetes import KubernetesTool

    environ = {"HOME": str(tmp_path)}
    needs = KubernetesTool(replace(tools.system, environ=environ)).needs({"type": "pods"})
    assert "kubectl is not installed" in needs.unavailable or str(tmp_path) in needs.unavailable


@pytest.mark.parametrize("action", ["updates", "check_updates", "update"])
def test_images_have_no_registry(tools, action):
    assert tools.by_name["pulsus_docker"].needs({"action": action}).unavailable
    outcome = call(tools, "pulsus_docker", {"action": action}, consent="yes")
    assert code(outcome) == "EXECUTION_CONTEXT_UNAVAILABLE"


def test_containers_are_listed_or_the_reason_is_given(tools):
    outcome = call(tools, "pulsus_docker", {"action": "list"})
    if outcome.response.ok:
        assert data(outcome)["total"] >= 0
    else:
        assert code(outcome) == "EXECUTION_CONTEXT_UNAVAILABLE"
        assert "docker" in outcome.response.error.message


def test_a_host_is_not_controlled_as_a_container(tools):
    if not (find_program("docker") or find_program("podman")):
        pytest.skip("neither docker nor podman is installed")
    args = {"action": "control", "operation": "stop"}
    outcome = call(tools, "pulsus_docker", args, consent="yes", on=[tools.system.host])
    assert code(outcome) == "INVALID_INPUT"
