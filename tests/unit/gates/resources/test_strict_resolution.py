"""No call acts on a resource that the session never discovered (architecture, invariant 1)."""

from __future__ import annotations

import dataclasses

import pytest

from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.strict_resolution import refuse_action, resolve_targets
from tests.resources import DELLY, HOMEPAGE, JELLYFIN, MEDIA, NGINX

EMPTY = ResolvedContext()
FLEET = EMPTY.add([DELLY, HOMEPAGE, MEDIA, JELLYFIN], 0.0)


def refused(found):
    assert found.refusal is not None
    assert found.refusal.error is not None
    return found.refusal.error


def test_a_write_to_a_made_up_resource_is_refused_with_similar_names():
    error = refused(resolve_targets(FLEET, "write", "restart", ["jellyfinn"], 0.0))
    assert error.to_json() == {
        "code": "STRICT_RESOLUTION",
        "message": "cannot restart: 'jellyfinn' was not discovered in this session",
        "blocked": True,
        "details": {
            "resource_id": "jellyfinn",
            "action": "restart",
            "suggestions": ["jellyfin"],
            "recovery_hint": "Use pulsus_query action=search query='jellyfinn' "
            "to discover the resource, then retry",
            "auto_recoverable": True,
        },
    }


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("homepage-dokcer", "homepage-docker"),
        ("home", "homepage-docker"),
        ("lxc:delly:media-server", "media-server"),
        ("@Jellyfin", "jellyfin"),
    ],
)
def test_a_refusal_offers_what_was_probably_meant(name, offered):
    found = refused(resolve_targets(FLEET, "write", "exec", [name], 0.0))
    assert offered in found.details["suggestions"]


def test_unrelated_names_are_not_offered():
    found = refused(resolve_targets(FLEET, "write", "exec", ["postgres"], 0.0))
    assert found.details["suggestions"] == []


def test_one_unknown_target_among_several_stops_a_write():
    error = refused(resolve_targets(FLEET, "write", "exec", ["homepage", "ghost"], 0.0))
    assert error.details["resource_id"] == "ghost"


def test_a_write_without_a_target_is_refused():
    error = refused(resolve_targets(FLEET, "write", "exec", [], 0.0))
    assert error.code == "STRICT_RESOLUTION"
    assert error.details["resource_id"] == ""


def test_a_write_to_an_expired_resource_is_refused():
    assert resolve_targets(FLEET, "write", "exec", ["delly"], 2700.0).refusal is None
    assert refused(resolve_targets(FLEET, "write", "exec", ["delly"], 2700.1))


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("kind", "needs_host"), [("write", False), ("read", True)])
def test_an_ambiguous_name_is_never_guessed(kind, needs_host, strict):
    twin = dataclasses.replace(JELLYFIN, host="minipc", parent="")
    both = FLEET.add([twin], 0.0)
    error = refused(
        resolve_targets(both, kind, "exec", ["jellyfin"], 0.0, needs_host=needs_host, strict=strict)
    )
    assert set(error.details["suggestions"]) == {JELLYFIN.id, twin.id}
    assert twin.id in error.message


def test_the_resources_of_a_write_come_in_the_order_of_the_call():
    found = resolve_targets(FLEET, "write", "exec", ["media-server", "homepage"], 0.0)
    assert found.resources == (MEDIA, HOMEPAGE)


def test_a_command_that_reads_is_refused_while_no_host_is_known():
    nowhere = EMPTY.add([dataclasses.replace(NGINX, target_host="")], 0.0)
    for context in (EMPTY, nowhere):
        found = resolve_targets(context, "read", "exec", ["delly"], 0.0, needs_host=True)
        assert refused(found).code == "STRICT_RESOLUTION"


def test_a_command_that_reads_passes_with_any_known_host_and_a_warning():
    found = resolve_targets(FLEET, "read", "exec", ["ghost"], 0.0, needs_host=True)
    assert found.refusal is None
    assert found.unresolved == ("ghost",)
    assert found.warnings == ("'ghost' was not discovered in this session",)


def test_reads_without_a_command_and_searches_need_no_discovery():
    assert resolve_targets(EMPTY, "read", "list", ["ghost"], 0.0).refusal is None
    assert resolve_targets(EMPTY, "resolve", "get", ["ghost"], 0.0).refusal is None


def test_a_relaxed_session_is_warned_of_each_unknown_target():
    found = resolve_targets(FLEET, "write", "exec", ["ghost"], 0.0, strict=False)
    assert found.refusal is None
    assert found.unresolved == ("ghost",)
    assert found.warnings
    assert not resolve_targets(FLEET, "write", "exec", ["delly"], 0.0, strict=False).warnings


def test_an_action_that_discovery_did_not_allow_is_refused():
    refusal = refuse_action(FLEET, "write", "delete", ["jellyfin"], 0.0)
    assert refusal is not None
    assert refusal.error is not None
    assert refusal.error.code == "ACTION_NOT_ALLOWED"
    assert refusal.error.details["target_resource_id"] == JELLYFIN.id
    assert refuse_action(FLEET, "write", "restart", ["jellyfin"], 0.0) is None


def test_a_resource_without_allowed_actions_takes_no_write():
    assert refuse_action(FLEET, "write", "exec", ["media-server"], 0.0) is not None
    assert refuse_action(FLEET, "read", "exec", ["media-server"], 0.0) is None
