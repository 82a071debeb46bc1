"""A guess at an unknown name: a near one, or none."""

import pytest

from pulsus.core.text.similar_names import did_you_mean, similar_names

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
