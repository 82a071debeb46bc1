"""A call on a machine does not replace one on what is inside it (architecture, invariant 7)."""

from __future__ import annotations

import dataclasses

import pytest

from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.routing_mismatch import refuse_parent
from tests.resources import DELLY, HOMEPAGE, JELLYFIN, MEDIA, MINIPC, NGINX

FLEET = ResolvedContext().add([DELLY, MINIPC, HOMEPAGE, MEDIA, JELLYFIN, NGINX], 0.0)


def by_user(context, *resources):
    return context.mark_explicit([one.id for one in resources], 0.0, by_user=True)


def by_query(context, resource):
    return context.mark_explicit([resource.id], 0.0, by_user=False)


def refused(context, target="delly"):
    return refuse_parent(context, [target], 0.0) is not None


def test_failure_mode_5_a_file_on_the_node_is_not_edited_instead_of_one_in_the_container():
    refusal = refuse_parent(by_user(FLEET, HOMEPAGE), ["delly"], 0.0)
    assert refusal is not None
    assert refusal.to_json() == {
        "ok": False,
        "error": {
            "code": "ROUTING_MISMATCH",
            "message": "target_host 'delly' is a node, but more specific resources on it "
            "were referenced: homepage-docker",
            "blocked": True,
            "details": {
                "target_host": "delly",
                "more_specific_resources": ["homepage-docker"],
                "more_specific_resource_ids": ["lxc:delly:141"],
                "target_resource_id": "lxc:delly:141",
                "recovery_hint": "Retry with target_resource_id='lxc:delly:141' (preferred) "
                "or target_host='homepage-docker'",
                "auto_recoverable": True,
            },
        },
    }


@pytest.mark.parametrize("target", ["delly", "DELLY", "node:delly"])
def test_no_spelling_of_the_parent_gets_around_the_check(target):
    assert refused(by_user(FLEET, HOMEPAGE), target)


def test_a_query_for_the_child_counts_as_explicit_access():
    assert refused(by_query(FLEET, HOMEPAGE))


def test_bulk_discovery_causes_no_mismatch():
    assert not refused(FLEET)
    assert not refused(FLEET.touch([HOMEPAGE.id], 1.0).add([HOMEPAGE, JELLYFIN], 2.0))


def test_the_child_itself_and_another_machine_are_no_mismatch():
    meant = by_user(FLEET, HOMEPAGE)
    assert not refused(meant, "homepage")
    assert not refused(meant, "minipc")


def test_a_container_in_a_guest_is_inside_the_node_as_well():
    assert refused(by_user(FLEET, JELLYFIN))


def test_the_guest_that_runs_the_commands_of_a_container_is_no_mismatch():
    assert not refused(by_user(FLEET, JELLYFIN), "media-server")


def test_a_child_is_inside_its_machine_although_the_link_between_them_was_not_discovered():
    loose = ResolvedContext().add([DELLY, dataclasses.replace(HOMEPAGE, parent="")], 0.0)
    assert refused(by_user(loose, HOMEPAGE))


def test_a_machine_that_was_not_discovered_is_no_way_around_its_child():
    alone = by_user(ResolvedContext().add([HOMEPAGE], 0.0), HOMEPAGE)
    assert refused(alone, "delly")
    assert refused(alone, "node:delly")
    assert not refused(alone, "minipc")


def test_an_evicted_parent_between_child_and_machine_does_not_break_the_chain():
    small = ResolvedContext(max_resources=3).add([DELLY, MEDIA, JELLYFIN], 0.0)
    meant = by_user(small, JELLYFIN).touch([DELLY.id, JELLYFIN.id], 1.0).add([NGINX], 2.0)
    assert meant.entry(MEDIA.id, 2.0) is None
    assert refused(meant)


def test_a_guest_that_was_never_found_does_not_hide_the_machine_in_its_id():
    assert refused(by_user(ResolvedContext().add([DELLY, JELLYFIN], 0.0), JELLYFIN))


def test_naming_the_child_again_does_not_forget_what_was_around_it():
    inner = dataclasses.replace(JELLYFIN, parent="lxc:105", host="")
    around = dataclasses.replace(MEDIA, host="")
    small = ResolvedContext(max_resources=3).add([DELLY, around, inner], 0.0)
    meant = by_user(small, inner).touch([DELLY.id, inner.id], 1.0).add([NGINX], 2.0)
    assert meant.entry(around.id, 2.0) is None
    assert refused(meant.mark_explicit([inner.id], 2.0, by_user=True))


def test_a_flood_of_discoveries_does_not_make_the_session_forget_the_child():
    flooded = by_user(FLEET, HOMEPAGE)
    many = [dataclasses.replace(NGINX, uid=str(number)) for number in range(600)]
    flooded = flooded.add(many, 1.0).add([DELLY], 2.0)
    assert flooded.entry(HOMEPAGE.id, 2.0) is None
    assert refused(flooded)


def test_a_service_runs_on_its_machine_and_causes_no_mismatch():
    assert not refused(by_user(FLEET, NGINX))
    alone = dataclasses.replace(NGINX, uid="cron", name="cron", parent="")
    assert not refused(by_user(FLEET.add([alone], 0.0), alone))


def test_a_service_in_a_guest_is_not_reached_on_the_node():
    inside = dataclasses.replace(NGINX, uid="app", host="homepage-docker", parent=HOMEPAGE.id)
    assert refused(by_user(FLEET.add([inside], 0.0), inside))
    assert not refused(by_user(FLEET.add([inside], 0.0), inside), "homepage-docker")


def test_the_parent_named_by_the_user_later_is_accepted():
    assert not refused(by_user(by_user(FLEET, HOMEPAGE), DELLY))


def test_the_parent_named_earlier_is_not_accepted():
    assert refused(by_user(by_user(FLEET, DELLY), HOMEPAGE))


def test_parent_and_child_named_in_one_message_are_both_accepted():
    assert not refused(by_user(FLEET, HOMEPAGE, DELLY))
    assert not refused(by_user(FLEET, DELLY, HOMEPAGE))


def test_naming_one_parent_does_not_lift_the_check_for_another():
    far = dataclasses.replace(HOMEPAGE, host="minipc", parent=MINIPC.id)
    meant = by_user(by_user(FLEET.add([far], 0.0), HOMEPAGE, far), DELLY)
    assert not refused(meant)
    assert refused(meant, "minipc")


@pytest.mark.parametrize("meant", [by_user, by_query])
def test_the_model_alone_cannot_lift_the_check_with_a_query_for_the_parent(meant):
    context = meant(FLEET, HOMEPAGE)
    for _ in range(10):
        context = by_query(context, DELLY)
        assert refused(context)


def test_a_query_for_a_parent_that_the_user_named_lifts_the_check():
    fuzzy = by_query(FLEET.mark_named([DELLY.id, HOMEPAGE.id], 0.0), HOMEPAGE)
    assert refused(fuzzy)
    assert not refused(by_query(fuzzy, DELLY))


def test_a_fuzzy_name_alone_neither_causes_nor_lifts_a_mismatch():
    assert not refused(FLEET.mark_named([HOMEPAGE.id], 0.0))
    assert refused(by_user(FLEET, HOMEPAGE).mark_named([DELLY.id], 0.0))


def test_a_loop_of_parents_ends():
    one = dataclasses.replace(HOMEPAGE, parent=MEDIA.id)
    two = dataclasses.replace(MEDIA, parent=HOMEPAGE.id)
    assert refused(by_user(FLEET.add([one, two], 0.0), one))
