"""What `pulsus promote` refuses before anything is validated."""

import pytest

from tests.project import make, pulsus


@pytest.mark.parametrize("owner", ["", "  "], ids=["empty", "blank"])
def test_an_owner_that_names_nobody_is_refused_and_not_taken_for_none(tmp_path, owner):
    project = make(tmp_path / "project", warm=False)
    module = "workflows/domains/demo/greet/say_hello.py"
    done = pulsus(
        project,
        *("promote", module, "--domain", "demo", "--action", "greet"),
        *("--owner", owner, "--yes"),
    )
    assert (done.code, done.out) == (2, "")
    assert "error[USAGE]: --owner '' names nobody" in done.err
    assert "leave it out" in done.err
    assert not (project / "workflows/domains/demo/greet/metadata.jsonl").exists()
