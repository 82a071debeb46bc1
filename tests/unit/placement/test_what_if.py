"""A change in words changes exactly what it says, and anything else is refused."""

import pytest

from pulsus.errors import UsageError
from pulsus.placement.what_if import FORMS, apply_change
from tests.placements import cluster

GIVEN = cluster(
    [
        ("a", 100, {"rack": "r1", "reserve": {"ram_mib": 10}}),
        ("b", 100, {"rack": "r2", "drain": True}),
        ("c", 100, {"status": "offline"}),
    ],
    [
        {"vmid": 1, "ram_mib": 60, "host": "a", "ha_group": "my web", "pinned": True},
        {"vmid": 2, "ram_mib": 60, "host": "b", "ha_group": "my web"},
    ],
)
RACKED = apply_change(GIVEN, "offline c")


def host(changed, name):
    return changed.host_named(name)


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ("drain a", lambda found: host(found, "a").drain),
        ("undrain b", lambda found: not host(found, "b").drain),
        ("offline a", lambda found: not host(found, "a").online),
        ("online c", lambda found: host(found, "c").online),
        ("add host d ram 64 cpu 8", lambda found: host(found, "d").ram_mib == 64),
        ("add host d ram 64 cpu 8 rack r 9", lambda found: host(found, "d").rack == "r 9"),
        ("remove pin 1", lambda found: not found.vms[0].pinned),
        ("remove group my web", lambda found: not any(vm.ha_group for vm in found.vms)),
        ("remove reserve a", lambda found: host(found, "a").reserve_ram_mib == 0),
        ("  drain   a ", lambda found: host(found, "a").drain),
    ],
)
def test_a_change_does_what_it_says_and_nothing_else(change, holds):
    found = apply_change(GIVEN, change)
    assert holds(found)
    before, after = {*GIVEN.hosts, *GIVEN.vms}, {*found.hosts, *found.vms}
    assert len(after - before) == (2 if "group" in change else 1)
    assert len(before - after) == (2 if "group" in change else "add" not in change)


def test_racks_are_used_only_if_every_host_has_one():
    assert not apply_change(GIVEN, "remove racks").use_rack_constraints
    with pytest.raises(UsageError, match="the host 'c' has no rack"):
        apply_change(GIVEN, "use racks")
    only = cluster([("a", 1, {"rack": "r1"})], [])
    assert apply_change(only, "use racks").use_rack_constraints
    with pytest.raises(UsageError, match="so the host needs a rack"):
        apply_change(apply_change(only, "use racks"), "add host d ram 64 cpu 8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("drain", "not one of the known changes"),
        ("drain a; drain b", "not one of the known changes"),
        ("explode a", "not one of the known changes"),
        ("", "not one of the known changes"),
    ],
)
def test_a_change_that_means_nothing_is_refused_with_its_forms(change, words):
    with pytest.raises(UsageError, match=words) as refused:
        apply_change(GIVEN, change)
    assert all(form in refused.value.hint for form in FORMS)


@pytest.mark.parametrize(
    ("change", "words", "hint"),
    [
        ("drain x", "there is no host 'x'", "hosts are: a"),
        ("remove pin 2", "no pinned VM has the id '2'", "pinned are: "),
        ("remove pin x", "no pinned VM has the id 'x'", "pinned are: "),
        ("remove group db", "no VM is in an HA group 'db'", "groups are: "),
        ("add host a ram 64 cpu 8", "'a' is a host already", "name a new host"),
        ("add host d ram 0 cpu 8", "needs RAM and CPU", "write: add host NAME"),
        ("add host d ram -1 cpu 8", "'-1' is no whole number of MiB", "write: add host NAME"),
        ("add host d ram abc cpu 3", "'abc' is no whole number of MiB", "write: add host NAME"),
        ("add host d ram 64 cpu x", "'x' is no whole number of millicores", "write: add host"),
        ("add host ../d ram 1 cpu 8", "'../d' is no name of a host", "write: add host NAME"),
        ("add host d cpu 8", "after the name come `ram MIB` and `cpu MC`", "write: add host NAME"),
        ("add host d ram 1 cpu", "after the name come `ram MIB` and `cpu MC`", "write: add host"),
        ("add host d ram 1 cpu 2 in r1", "'in r1' is not `rack RACK`", "write: add host NAME"),
    ],
)
def test_a_known_change_names_its_wrong_part_and_not_every_form(change, words, hint):
    with pytest.raises(UsageError) as refused:
        apply_change(GIVEN, change)
    assert words in refused.value.message
    assert refused.value.hint.startswith(hint)
    assert "use racks" not in refused.value.hint


def test_a_cluster_without_pins_says_so():
    pin = next(str(vm.vmid) for vm in GIVEN.vms if vm.pinned)
    free = apply_change(GIVEN, f"remove pin {pin}")
    with pytest.raises(UsageError) as refused:
        apply_change(free, "remove pin 999")
    assert refused.value.hint == "nothing is pinned"
