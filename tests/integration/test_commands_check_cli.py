"""`pulsus commands check`: unproved restrictions, and options that change something."""

import os

import pytest

from tests.project import make, pulsus_here

TABLE = """program: acmeq
source: acmeq(1)
summary: shows a queue
flags: -a
refused: {-w: it writes}
operands: [[text*]]
examples: {allowed: [acmeq -a], refused: [acmeq -x]}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make(tmp_path_factory.mktemp("checks") / "project", warm=False)


def checked(project, text, *options):
    (project / "acmeq.yaml").write_text(text, encoding="utf-8")
    return pulsus_here(project, "commands", "check", "acmeq.yaml", *options, "--output", "json")


def test_an_unproved_restriction_is_a_finding_only_on_request(project):
    assert checked(project, TABLE).code == 0
    done = checked(project, TABLE, "--restrictions")
    assert done.code == 3
    (found,) = done.json["findings"]
    assert found["code"] == "RESTRICTION_UNPROVED"
    assert "restriction `refused -w`, as `acmeq -w` would" in found["reason"]
    shown = TABLE.replace("[acmeq -x]", "[acmeq -w a]")
    assert checked(project, shown, "--restrictions").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400])
def test_unreadable_tables_are_an_error(tmp_path, mode):
    folder = make(tmp_path / "closed", warm=False)
    (folder / "config/commands").mkdir(parents=True)
    (folder / "config/commands/acme.yaml").write_text("program: acme\n", encoding="utf-8")
    (folder / "config/commands").chmod(mode)
    try:
        for words in (("check",), ("list", "git")):
            done = pulsus_here(folder, "commands", *words)
            assert (done.code, "cannot be looked into" in done.err) == (2, mode != 0o400)
            assert "config/commands" in done.err
    finally:
        (folder / "config/commands").chmod(0o755)


def test_an_option_named_like_a_change_is_a_warning(project):
    done = checked(project, TABLE.replace("flags: -a", "flags: -a --delete"))
    assert done.code == 0
    assert done.json["findings"] == []
    (warning,) = done.json["warnings"]
    assert "--delete is listed as reading" in warning
    assert "--delete" in done.err


def test_a_slow_pattern_is_reported_with_its_nested_repeat(project):
    done = checked(project, TABLE.replace("text*", "'/(a+)+b/'"))
    (found,) = done.json["findings"]
    assert found["code"] == "TABLE_INVALID"
    assert "a repeat in it holds another" in found["reason"]
