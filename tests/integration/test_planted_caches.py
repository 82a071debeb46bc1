"""A `.pulsus/` folder that a repository brings: nothing in it may stand for a check here."""

import pytest

from pulsus import bootstrap
from tests.project import make, pulsus_here
from tests.sandboxes import need_sandbox

MODULE = "workflows/domains/text/count/count_words.py"


@pytest.fixture
def attacker(tmp_path, monkeypatch):
    """The project with the caches of another user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "attacker"))
    return make(tmp_path / "project", warm=False)


def test_cached_contracts_from_a_repository_are_ignored(attacker, tmp_path, monkeypatch):
    def known(folder):
        from pulsus.routing.index.discovery_index import DiscoveryIndex

        app = bootstrap.build(folder, {})
        limit = app.settings.discovery.max_file_bytes
        return DiscoveryIndex(
            app.state_dir, max_file_bytes=limit, token=app.cache_token or ""
        ).stored()

    assert pulsus_here(attacker, "tools", "list").code == 0
    assert known(attacker) is not None
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    assert known(attacker) is None
    assert pulsus_here(attacker, "tools", "list").code == 0
    assert known(attacker) is not None


@pytest.mark.seconds
@pytest.mark.sandbox
def test_cached_verdicts_from_a_repository_are_ignored(attacker, tmp_path, monkeypatch):
    need_sandbox()

    def cached():
        done = pulsus_here(attacker, "validate", MODULE, "--output", "json")
        assert done.code == 0, done.out
        (module,) = done.json["modules"]
        return module["cached"]

    assert [cached(), cached()] == [False, True]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    assert [cached(), cached()] == [False, True]


def test_commands_work_without_a_home_and_use_no_cache(attacker, monkeypatch):
    assert pulsus_here(attacker, "tools", "list").code == 0
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert bootstrap.build(attacker, {}).cache_token is None
    assert pulsus_here(attacker, "tools", "list").code == 0
    assert pulsus_here(attacker, "doctor").code in (0, 3)
