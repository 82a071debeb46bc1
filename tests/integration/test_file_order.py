"""The order in which the file system lists the catalogue changes no answer (routing spec §5)."""

import os
import random
import shutil
from typing import Any
from unittest import mock

import pytest

from pulsus.bootstrap import build
from tests.project import COMPOSE, COUNT, NOTHING, SELECT, make

REQUESTS = (SELECT, COMPOSE, COUNT, NOTHING, "sort rows then make a markdown table", "files text")
SHUFFLES = 20


class Shuffled:
    """The entries of `os.scandir`, in another order."""

    def __init__(self, entries, rng):
        self.entries = entries
        self.rng = rng

    def __enter__(self):
        found = list(self.entries.__enter__())
        self.rng.shuffle(found)
        return iter(found)

    def __exit__(self, *failure):
        return self.entries.__exit__(*failure)


def recreate(source, target, rng):
    """The files of `source`, created in `target` in a random order."""
    files = [p for p in sorted(source.rglob("*")) if p.is_file() and ".pulsus" not in p.parts]
    rng.shuffle(files)
    for path in files:
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


def answers(folder):
    """Everything a decision is made of, exactly."""
    app = build(folder, {"cache_enabled": False})
    parser, searcher = app.parser(), app.searcher()
    found: dict[str, Any] = {"digest": app.catalogue.digest}
    for request in REQUESTS:
        intent = parser.parse(request)
        search = searcher.search(intent)
        found[request] = (
            intent,
            search.choice.policy,
            [r.tool.id for r in search.choice.chosen],
            [(r.tool.id, r.score, r.p, r.rank, r.tie_break, r.why_not) for r in search.candidates],
            [s.text for s in search.subintents],
        )
    return found


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("order") / "project", "shadow", warm=False)
    return folder, answers(folder)


@pytest.mark.parametrize("seed", range(SHUFFLES))
def test_the_order_of_files_changes_no_answer(seed, original, tmp_path):
    rng = random.Random(seed)
    source, expected = original
    recreate(source, tmp_path, rng)
    listed = os.scandir
    with mock.patch("os.scandir", lambda *args: Shuffled(listed(*args), rng)):
        assert answers(tmp_path) == expected


def test_the_requests_lead_to_every_policy(original):
    _, expected = original
    policies = {expected[request][1] for request in REQUESTS}
    assert policies == {"select", "compose", "generate"}
