"""Settings validated before are used again only while nothing they come from has changed."""

import os
import shutil

import pytest

from pulsus import bootstrap
from pulsus.config import cache_secret, layers
from pulsus.config.settings import Settings
from pulsus.errors import ConfigError
from tests.project import trust


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith("PULSUS_"):
            monkeypatch.delenv(name)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "workflows").mkdir()
    (tmp_path / "config").mkdir()
    return tmp_path


@pytest.fixture
def validations(monkeypatch):
    """One entry for each time the layers were validated."""
    seen = []
    real = layers.validate_layers

    def counted(*args):
        seen.append(1)
        return real(*args)

    monkeypatch.setattr(layers, "validate_layers", counted)
    return seen


def used(project, flags=None):
    app = bootstrap.build(project, flags or {})
    _ = app.catalogue
    return app


def write(project, text):
    (project / "config/pulsus.toml").write_text(text, encoding="utf-8")


def kept(project):
    (file,) = (project / ".pulsus/index").glob("settings-*")
    return file


def test_unchanged_settings_are_validated_once(project, validations):
    write(project, '[ranker]\nthreshold = 0.7\nweights = {name = 0.5}\n[plugins]\ndisabled=["p"]')
    trust(project)
    validations.clear()
    first, second = used(project), used(project)
    assert len(validations) == 1
    assert (first.settings, first.origins) == (second.settings, second.origins)
    assert second.settings.plugins.disabled == ("p",)
    assert second.origin("ranker.threshold") == "config/pulsus.toml"


@pytest.mark.parametrize(
    "change",
    [
        lambda project, _: write(project, "[ranker]\nthreshold = 0.8\n"),
        lambda project, _: (project / "pyproject.toml").write_text(
            "[tool.pulsus.ranker]\nthreshold = 0.8\n", encoding="utf-8"
        ),
        lambda _, patch: patch.setenv("PULSUS_RANKER__THRESHOLD", "0.8"),
        lambda _, patch: patch.setenv("pulsus_ranker__threshold", "0.8"),
    ],
    ids=["file", "pyproject", "variable", "lower-case variable"],
)
def test_a_change_of_any_source_counts_at_once(project, monkeypatch, change):
    used(project)
    used(project)
    change(project, monkeypatch)
    assert used(project).settings.ranker.threshold == 0.8


def test_flags_count_at_once(project):
    used(project)
    used(project)
    assert used(project, {"non_interactive": True}).settings.non_interactive
    assert not used(project).settings.non_interactive


def test_a_wrong_value_is_refused_though_a_right_one_was_kept(project):
    used(project)
    write(project, "[ranker]\nthreshold = 7\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match="threshold"):
            used(project)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("0.6", "0.9"),
        lambda text: text[:-3],
        lambda _: "",
        lambda _: "[]\n" + cache_secret.seal(bytes(32), b"[]"),
    ],
)
def test_a_damaged_file_is_as_none(project, validations, damage):
    write(project, "[ranker]\nthreshold = 0.6\n")
    used(project)
    kept(project).write_text(damage(kept(project).read_text("utf-8")), encoding="utf-8")
    assert used(project).settings.ranker.threshold == 0.6
    assert len(validations) == 2


def test_without_the_cache_nothing_is_read_or_kept(project, validations):
    for _ in range(2):
        used(project, {"cache_enabled": False})
    assert len(validations) == 2
    assert not (project / ".pulsus").exists()


def test_a_secret_in_a_variable_is_not_kept(project, monkeypatch, validations):
    monkeypatch.setenv("PULSUS_MODEL__BASE_URL", "https://me:hunter2hunter2@models.example/v1")
    for _ in range(2):
        used(project)
    assert len(validations) == 2
    assert not list((project / ".pulsus/index").glob("settings-*"))


def test_settings_of_many_environments_are_not_kept_for_ever(project, monkeypatch):
    for number in range(12):
        monkeypatch.setenv("PULSUS_COMPOSE__MAX_STEPS", str(number + 2))
        assert used(project).settings.compose.max_steps == number + 2
    assert len(list((project / ".pulsus/index").glob("settings-*"))) == 8


SILENT = [
    pytest.param({}, id="no file"),
    pytest.param({"config/pulsus.toml": "# a = 1\n[ranker]  # its weights\n\n"}, id="comments"),
    pytest.param({"pyproject.toml": "[project]\nname = 'x'\n"}, id="another's pyproject"),
]


@pytest.mark.parametrize("files", SILENT)
def test_a_project_that_sets_nothing_needs_no_validation(project, validations, files):
    for name, text in files.items():
        (project / name).write_text(text, encoding="utf-8")
    assert used(project).settings == Settings()
    assert validations == []


SETTING = [
    pytest.param("config/pulsus.toml", "ranker.threshold = 0.8\n", id="dotted"),
    pytest.param("config/pulsus.toml", "[ranker]\nthreshold = 0.8 # pulsus\n", id="table"),
    pytest.param("pyproject.toml", "tool.pulsus.ranker.threshold = 0.8\n", id="pyproject"),
    pytest.param("pyproject.toml", '[tool."puls\\u0075s".ranker]\nthreshold = 0.8\n', id="escaped"),
]


@pytest.mark.parametrize(("name", "text"), SETTING)
def test_no_spelling_of_a_setting_is_passed_over(project, validations, name, text):
    (project / name).write_text(text, encoding="utf-8")
    assert used(project).settings.ranker.threshold == 0.8


@pytest.mark.parametrize("text", ["[unknown]\n", "[ranker\n", "[[ranker]]\n", "= 1\n"])
def test_a_file_that_only_looks_empty_is_still_refused(project, text):
    write(project, text)
    with pytest.raises(ConfigError):
        used(project)


def test_a_copy_elsewhere_of_a_project_needs_no_second_validation(
    project, validations, tmp_path_factory
):
    write(project, "[compose]\nmax_steps = 3\n")
    used(project)
    copy = tmp_path_factory.mktemp("elsewhere") / "copy"
    shutil.copytree(project, copy)
    used(copy)
    assert len(validations) == 1
