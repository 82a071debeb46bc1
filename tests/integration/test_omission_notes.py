"""Route and explain name the values and clauses that a decision ignores."""

import pytest

from tests.project import COUNT, make, pulsus_here

PARTLY = f"{COUNT}, then bake a sourdough loaf"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make(tmp_path_factory.mktemp("notes") / "project")


@pytest.mark.parametrize("args", [("explain",), ("route", "--plan"), ("route", "--explain")])
def test_an_ignored_value_or_clause_is_noted(project, args):
    command, *flags = args
    request = f"{COUNT} in /srv/report.txt"
    done = pulsus_here(project, command, request, *flags)
    if flags != ["--explain"]:
        assert "not used as inputs: /srv/report.txt" in done.out + done.err
        told = pulsus_here(project, command, request, *flags, "--output", "json").json["notes"]
        assert any("/srv/report.txt" in note for note in told)
    part = "no tool was found for the part 'bake a sourdough loaf'"
    done = pulsus_here(project, command, PARTLY, *flags)
    assert part in done.out + done.err
    told = pulsus_here(project, command, PARTLY, *flags, "--output", "json").json["notes"]
    assert part in told
