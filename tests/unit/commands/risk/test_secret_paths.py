"""Each place of the rules is found, though only those that a path can begin with are tried."""

import re
from itertools import product

import pytest

from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.risk import secret_paths
from pulsus.commands.risk.secret_printing_calls import find_secret_calls
from pulsus.commands.shell.words import Word


def example(part):
    """Return a name that fits one part of a place."""
    return re.sub(r"\[(.)[^\]]*\]|[*?]", lambda found: found[1] or "x", part)


def names_place(path, key):
    return secret_paths._names_place(path, key, secret_paths._beginnings(path))


@pytest.mark.parametrize("key", ["places", "names", "rooted"])
def test_no_place_is_lost_because_its_beginning_is_looked_up(key):
    lost = list[str]()
    for place in secret_paths.secret_places(key):
        path = "/".join(map(example, place.parts))
        above = ("",) if key == "rooted" else ("", "a/", "etc/", "var/lib/")
        below = ("", "\n", "/a") if place.folder else ("", "\n")
        paths = map("".join, product(above, [path], below))
        lost += [each for each in paths if not names_place(each, key)]
    assert lost == []


@pytest.mark.parametrize("path", ["etcx/tcb", "etc/shadow/a", "xetc/tcb", "tcb", "a/swap"])
def test_a_place_counts_by_whole_names(path):
    for key in ("places", "rooted"):
        assert not names_place(path, key)


def test_no_link_is_passed_over_because_its_folder_is_not_listed():
    for link, _ in secret_paths._LINKS:
        folders = re.findall(r"\^/\(?([a-z0-9|]+)", link.pattern)[0].split("|")
        assert secret_paths._FOLDERS_OF_LINKS.issuperset(folders), link.pattern
    assert secret_paths.follow_links("/bin\n") == "/usr/bin\n"


@pytest.mark.parametrize(
    "call",
    [
        "kubectl get secret x -oyaml",
        "kubectl get SECRET x -oyaml",
        "kubectl -n a get secrets -ojson",
        "ssh web1 kubectl get secret x -oyaml",
        "kubectl create token a",
        "kubectl config v?ew --raw",
    ],
)
def test_a_rule_is_not_passed_over_because_a_word_seems_to_be_missing(call):
    words = tuple(map(Word, call.split()))
    assert [found.reason.phase for found in find_secret_calls(words, Tables())] == ["sensitive"]
