"""`pulsus promote` and `pulsus rollback` refuse wrong options before anything is validated."""

import pytest

from tests.project import make, pulsus_here
from tests.promotions import module as source
from tests.promotions import promoted, tree


@pytest.mark.parametrize("owner", ["", "  "], ids=["empty", "blank"])
def test_an_empty_owner_is_refused_and_does_not_keep_the_old_one(tmp_path, owner):
    project = make(tmp_path / "project", warm=False)
    module = "workflows/domains/demo/greet/say_hello.py"
    done = pulsus_here(
        project,
        *("promote", module, "--domain", "demo", "--action", "greet"),
        *("--owner", owner, "--yes"),
    )
    assert (done.code, done.out) == (2, "")
    assert "error[USAGE]: --owner '' is empty" in done.err
    assert "leave it out" in done.err
    assert not (project / "workflows/domains/demo/greet/metadata.jsonl").exists()


@pytest.mark.parametrize("empty", ["--domain=", "--action=", "--name=", "--name=  "])
def test_an_empty_option_is_not_taken_for_one_that_was_left_out(tmp_path, empty):
    """An unset variable gives an empty option. It meant the shared tools, or the file's name."""
    project = make(tmp_path / "project", warm=False)
    module = "workflows/domains/demo/greet/say_hello.py"
    options = {"--domain=": "demo", "--action=": "greet"}
    given = [f"{name}{value}" for name, value in options.items() if name not in empty]
    done = pulsus_here(project, "promote", module, *given, empty, "--yes")
    assert (done.code, done.out) == (2, "")
    assert f"error[USAGE]: {empty.split('=')[0]} '" in done.err
    assert "names nothing" in done.err


@pytest.mark.parametrize(
    ("ref", "what"),
    [("things@", "version"), ("things@ ", "version"), ("@1.0.0", "tool"), ("", "tool")],
)
def test_a_rollback_to_no_version_does_not_take_the_one_before(tmp_path, ref, what):
    """`pulsus rollback things@$VERSION` with an unset variable put back whatever was before."""
    promoted(tmp_path, source("one"))
    promoted(tmp_path, source("two"))
    before = tree(tmp_path / "workflows")
    done = pulsus_here(tmp_path, "rollback", ref, "--yes")
    assert (done.code, done.out) == (2, "")
    assert f"error[USAGE]: {ref!r} names no {what}" in done.err
    assert tree(tmp_path / "workflows") == before
