"""Names match resources by id, by name, by a prefix or by a part (deep dive §1)."""

import pytest

from pulsus.agent.mentions.name_matching import (
    exact_matches,
    matches_in_words,
    similar_matches,
)
from pulsus.gates.resources.resolved_resource import ResolvedResource


def container(name, *aliases):
    return ResolvedResource("docker_container", f"id-{name}", name, "vm", aliases)


HOME, JELLY, WEB = container("homepage-docker"), container("jellyfin"), container("web")
HOST = ResolvedResource("host", "m1", "vm", "vm", ("this machine",))
ALL = (HOME, JELLY, WEB, HOST)


def test_an_id_comes_before_a_name_that_looks_like_it():
    decoy = container("docker_container:vm:id-web")
    assert exact_matches("docker_container:vm:id-web", (decoy, *ALL)) == (WEB,)


def test_case_counts_only_if_it_decides():
    upper = container("WEB")
    assert exact_matches("web", (upper, WEB)) == (WEB,)
    assert exact_matches("Jellyfin", ALL) == (JELLY,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("homepage", (HOME,)),
        ("home", (HOME,)),
        ("hom", ()),  # shorter than four letters, and no part
        ("docker", (HOME,)),
        ("jelly", (JELLY,)),
        ("fin", ()),
    ],
)
def test_a_likeness_is_a_prefix_of_four_letters_or_a_part(name, expected):
    assert similar_matches(name, ALL) == expected


def test_a_prefix_of_many_resources_means_none_of_them():
    many = tuple(container(f"systemd-{n}") for n in "abcd")
    assert similar_matches("systemd", many) == ()


def test_plain_words_find_names_prefixes_and_names_of_several_words():
    assert matches_in_words("check jellyfin logs", ALL) == (JELLY,)
    assert matches_in_words("what runs on this machine beside homepage?", ALL) == (HOME, HOST)
    assert matches_in_words("how full are the disks", ALL) == ()
