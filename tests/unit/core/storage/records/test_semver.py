"""Versions (spec §10)."""

import pytest

from pulsus.core.storage.records.semver import greatest, next_version, parse_version


@pytest.mark.parametrize(
    ("previous", "following"),
    [(None, "1.0.0"), ("1.0.0", "1.0.1"), ("1.0.9", "1.0.10"), ("2.13.99", "2.13.100")],
)
def test_the_first_is_1_0_0_and_each_next_one_patch_more(previous, following):
    assert next_version(previous) == following


def test_a_minor_starts_patches_anew_and_a_major_both():
    assert next_version("1.2.3", "minor") == "1.3.0"
    assert next_version("1.2.3", "major") == "2.0.0"


@pytest.mark.parametrize(
    "bad",
    ["", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.0-rc1", "01.0.0", "1.0.-1", "1.0.٣", "1.0.0\n"],
)
def test_a_malformed_version_is_an_error_not_a_guess(bad):
    with pytest.raises(ValueError, match=r"MAJOR\.MINOR\.PATCH"):
        next_version(bad)


def test_versions_compare_as_numbers():
    assert parse_version("1.10.0") > parse_version("1.9.9")


def test_the_greatest_bump_counts_and_none_is_a_patch():
    assert greatest("patch", "major", "minor") == "major"
    assert greatest() == "patch"
