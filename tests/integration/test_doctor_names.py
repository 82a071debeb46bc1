"""`pulsus doctor` names settings that point at nothing, because they change nothing in silence."""

import pytest

from tests.project import make, pulsus_here

pytestmark = pytest.mark.seconds


def checks(folder, **variables):
    found = pulsus_here(folder, "doctor", "--output", "json", env=variables).json["checks"]
    return {each["name"]: each for each in found}


def test_a_weight_of_no_feature_and_a_disabled_plugin_that_is_not_there_are_named(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    assert "weights" not in checks(folder)
    found = checks(
        folder,
        PULSUS_RANKER__WEIGHTS='{"name": 1, "docs": 2}',
        PULSUS_PLUGINS__DISABLED='["nope"]',
    )
    assert not found["weights"]["ok"]
    assert "docs" in found["weights"]["found"]
    assert "did you mean doc" in found["weights"]["hint"]
    assert not found["plugins"]["ok"]
    assert "'nope'" in found["plugins"]["found"]
