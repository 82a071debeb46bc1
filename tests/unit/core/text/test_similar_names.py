"""A guess at an unknown name: a near one, or none."""

import pytest

from pulsus.core.text.similar_names import did_you_mean, similar_names, similar_path

IDS = ("storage/usage/disk_usage", "analysis/visualise/plot_matrix", "backup/age/backup_freshness")
KEYS = ("generator.neighbour_chars", "sandbox", "sandbox.network", "ranker.threshold")


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        pytest.param("disk_usge", IDS, ["storage/usage/disk_usage"], id="slip"),
        pytest.param("storage/use/disk_usage", IDS, ["storage/usage/disk_usage"], id="folder"),
        pytest.param("disk", IDS, ["storage/usage/disk_usage"], id="a word of the name"),
        pytest.param("plot_matrx.py", IDS, ["analysis/visualise/plot_matrix"], id="file"),
        pytest.param("rotate", IDS, [], id="no tool is like it"),
        pytest.param("cpu_cores", IDS, [], id="one word alike"),
        pytest.param("treshold", KEYS, ["ranker.threshold"], id="setting"),
        pytest.param("sanbox", KEYS, ["sandbox"], id="section"),
        pytest.param("nosuch", KEYS, [], id="no setting is like it"),
    ],
)
def test_a_name_that_is_not_similar_is_not_offered(name, known, found):
    assert similar_names(name, known) == found


def test_no_guess_leads_to_the_list():
    assert did_you_mean("rotate", IDS, "see the list") == "see the list"
    assert did_you_mean("disk", IDS, "x") == "did you mean storage/usage/disk_usage?"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param("var/lgo/syslog", "var/log/syslog", id="a folder"),
        pytest.param("var/log/sysolg", "var/log/syslog", id="the file"),
        pytest.param("VAR/lgo/syslgo", "var/log/syslog", id="every part"),
        pytest.param("var/lgo/other", None, id="no such file in the folder"),
        pytest.param("var/log/app1.log", None, id="two files are as near"),
        pytest.param("var/log/syslog", None, id="the path exists"),
        pytest.param("var/log/syslog/x", None, id="below a file"),
        pytest.param("srv/x", None, id="nothing is like it"),
        pytest.param("~no such user/x", None, id="no home"),
    ],
)
def test_a_path_with_typos_leads_to_the_one_that_exists(tmp_path, monkeypatch, path, found):
    (tmp_path / "var/log").mkdir(parents=True)
    for name in ("syslog", "app2.log", "app3.log"):
        (tmp_path / "var/log" / name).touch()
    absolute = str(tmp_path / path)
    assert similar_path(absolute) == (str(tmp_path / found) if found else None)
    monkeypatch.chdir(tmp_path)
    assert similar_path(path) == found
