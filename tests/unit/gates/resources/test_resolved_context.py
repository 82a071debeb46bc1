"""Only what this session discovered can be named, and nothing of it outlives the session."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import pydantic_core
import pytest

from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.session_gates import SessionGates
from tests.resources import DELLY, HOMEPAGE, JELLYFIN, MEDIA


def context(*resources, now=0.0, **limits):
    return ResolvedContext(**limits).add(resources, now)


@pytest.mark.parametrize("name", ["lxc:delly:141", "homepage-docker", "homepage", "HOMEPAGE"])
def test_a_resource_is_found_by_id_name_and_alias(name):
    assert context(DELLY, HOMEPAGE).find(name, 1.0).resource == HOMEPAGE


@pytest.mark.parametrize("name", ["", "home", "lxc:delly:142", "lxc:delly", "homepage-docker "])
def test_a_name_that_was_not_discovered_is_not_guessed(name):
    assert context(DELLY, HOMEPAGE).find(name, 1.0).resource is None


def test_an_ambiguous_name_is_not_resolved_and_says_which_ids():
    other = dataclasses.replace(HOMEPAGE, uid="142")
    found = context(HOMEPAGE, other).find("homepage", 1.0)
    assert found.resource is None
    assert found.ambiguous
    assert set(found.ids) == {HOMEPAGE.id, other.id}


def test_names_that_differ_in_case_are_told_apart():
    upper = dataclasses.replace(JELLYFIN, uid="def456", name="Jellyfin")
    both = context(JELLYFIN, upper)
    assert both.find("Jellyfin", 1.0).resource == upper
    assert both.find("JELLYFIN", 1.0).ambiguous


def test_an_expired_namesake_makes_nothing_ambiguous():
    other = dataclasses.replace(HOMEPAGE, uid="142")
    both = context(HOMEPAGE, ttl_s=10).add([other], 8.0)
    assert both.find("homepage", 15.0).resource == other


@pytest.mark.parametrize("name", ["node:delly", "lxc:delly:141"])
def test_a_container_named_like_an_id_cannot_take_its_place(name):
    imposter = dataclasses.replace(JELLYFIN, name=name, aliases=(name,))
    assert context(imposter).find(name, 1.0).resource is None
    known = context(DELLY, HOMEPAGE, imposter).find(name, 1.0).resource
    assert known is not None
    assert known.id == name


def test_a_resource_expires_only_after_its_last_use():
    used = context(HOMEPAGE, ttl_s=10).touch([HOMEPAGE.id], 8.0)
    assert used.find("homepage", 18.0).resource == HOMEPAGE
    assert used.find("homepage", 18.1).resource is None


def test_a_look_up_alone_does_not_extend_the_life_of_a_resource():
    known = context(HOMEPAGE, ttl_s=10)
    known.find("homepage", 9.0)
    assert known.find("homepage", 11.0).resource is None


def test_an_expired_resource_is_not_revived_by_a_use_or_a_mention():
    expired = context(HOMEPAGE, ttl_s=10).touch([HOMEPAGE.id], 20.0)
    marked = expired.mark_explicit([HOMEPAGE.id], 20.0, by_user=True).pin([HOMEPAGE.id], 20.0)
    assert marked.find("homepage", 20.0).resource is None
    assert not marked.explicit.by_id


def test_the_least_recently_used_resource_is_evicted():
    used = context(DELLY, HOMEPAGE, max_resources=2).touch([DELLY.id], 1.0).add([MEDIA], 2.0)
    assert {one.id for one in used.live(2.0)} == {DELLY.id, MEDIA.id}


def test_a_pinned_resource_neither_expires_nor_is_evicted():
    pinned = context(HOMEPAGE, max_resources=2, ttl_s=10).pin([HOMEPAGE.id], 0.0)
    crowded = pinned.add([DELLY, MEDIA, JELLYFIN], 1.0)
    assert crowded.find("homepage", 1000.0).resource == HOMEPAGE
    assert len(crowded) == 2


def test_discovering_a_pinned_resource_again_keeps_it_pinned():
    again = context(HOMEPAGE, ttl_s=10).pin([HOMEPAGE.id], 0.0).add([HOMEPAGE], 1.0)
    assert again.find("homepage", 1000.0).resource == HOMEPAGE


def test_discovering_a_resource_again_replaces_what_is_known_of_it():
    stopped = dataclasses.replace(HOMEPAGE, aliases=(), allowed_actions=())
    again = context(HOMEPAGE).add([stopped], 1.0)
    assert again.find(HOMEPAGE.id, 1.0).resource == stopped
    assert again.find("homepage", 1.0).resource is None


def test_bulk_discovery_is_no_explicit_access():
    assert not context(DELLY, HOMEPAGE, MEDIA).touch([HOMEPAGE.id], 1.0).explicit.by_id


def test_a_crowd_of_queries_does_not_push_out_what_the_user_named():
    known = context(HOMEPAGE).mark_explicit([HOMEPAGE.id], 0.0, by_user=True)
    for number in range(600):
        one = dataclasses.replace(JELLYFIN, uid=str(number))
        known = known.add([one], 1.0).mark_explicit([one.id], 1.0, by_user=False)
    assert HOMEPAGE.id in known.explicit.by_id
    assert len(known.explicit.by_id) == 500


@pytest.mark.parametrize(
    "save",
    [
        pytest.param(pickle.dumps, id="pickle"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(json.dumps, id="json"),
        pytest.param(pydantic_core.to_json, id="pydantic"),
        pytest.param(dataclasses.asdict, id="asdict"),
    ],
)
@pytest.mark.parametrize("value", [context(HOMEPAGE), SessionGates(resources=context(HOMEPAGE))])
def test_resolved_resources_cannot_be_saved_beyond_the_session(save, value):
    with pytest.raises((TypeError, ValueError)):
        save(value)


def test_a_context_cannot_be_changed_in_place():
    with pytest.raises(AttributeError, match="frozen"):
        context(HOMEPAGE).ttl_s = 1e9


@pytest.mark.parametrize(("ttl_s", "max_resources"), [(0, 1), (1, 0), (-1, 1)])
def test_limits_that_would_switch_expiry_off_are_refused(ttl_s, max_resources):
    with pytest.raises(ValueError, match="must be positive"):
        ResolvedContext(ttl_s, max_resources)
