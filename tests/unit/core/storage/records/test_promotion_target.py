"""Promotion writes below the workflows folder only, and through no link (spec §10, §17)."""

import pytest

from pulsus.core.storage.records.promotion_target import Target, checked_root, open_below
from pulsus.errors import TargetRefused, WorkflowsMissing
from tests.promotions import tree

BAD_NAMES = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "/etc/passwd",
    "a\\b",
    "a.b",
    "x.py",
    "-rf",
    "_private",
    "1st",
    "Upper",
    "naïve",
    "ａ",
    "a b",
    "a\n",
    "a\x00b",
    "class",
    "import",
    "__init__",
    "x" * 65,
]


@pytest.mark.parametrize(
    ("part", "bad", "near"),
    [
        ("name", "name-servers", ": --name name_servers"),
        ("domain", "Net Tools", ": --domain net_tools"),
        ("name", "../x", "keyword"),
        ("name", "7zip-list", "keyword"),
        ("name", "class", "keyword"),
    ],
)
def test_a_name_with_hyphens_is_not_refused_without_the_name_to_give(part, bad, near):
    with pytest.raises(TargetRefused) as caught:
        Target(**{"domain": "system", "action": "count", "name": "things"} | {part: bad})
    assert caught.value.hint.endswith(near)


@pytest.mark.parametrize("bad", BAD_NAMES, ids=ascii)
def test_a_name_that_is_no_plain_identifier_is_refused(bad):
    for part in ("domain", "action", "name"):
        parts = {"domain": "system", "action": "count", "name": "things"} | {part: bad}
        with pytest.raises(TargetRefused, match=f"^{part} ") as caught:
            Target(**parts)
        assert caught.value.exit_status == 6


@pytest.mark.parametrize("domain", ["shared", "shared_tools", "domains"])
def test_a_domain_that_would_make_two_tools_of_one_id_is_refused(domain):
    with pytest.raises(TargetRefused, match="reserved") as refused:
        Target(domain, "count", "things")
    assert "leave the domain out" in (refused.value.hint or "")


def test_a_target_knows_its_id_and_places(tmp_path):
    own, shared = Target("system", "count", "things"), Target(None, "count", "things")
    assert own.tool_id == "system/count/things"
    assert own.path(tmp_path) == tmp_path / "domains/system/count/things.py"
    assert shared.tool_id == "shared/count/things"
    assert shared.path(tmp_path) == tmp_path / "shared_tools/count/things.py"


@pytest.mark.parametrize("make", ["nothing", "file", "loop"])
def test_a_workflows_root_that_is_no_folder_is_named(tmp_path, make):
    root = tmp_path / "workflows"
    if make == "file":
        root.touch()
    if make == "loop":
        root.symlink_to(root)
    with pytest.raises(WorkflowsMissing, match="workflows"):
        checked_root(root)


def test_a_folder_merely_called_agents_is_fine(tmp_path):
    root = tmp_path / "agents" / "workflows"
    root.mkdir(parents=True)
    assert checked_root(root) == root.resolve()


def test_folders_made_on_the_way_go_again_when_the_work_fails(tmp_path):
    (tmp_path / "domains").mkdir()
    with (
        pytest.raises(ValueError, match="work"),
        open_below(tmp_path, ("domains", "a", "b"), create=True),
    ):
        raise ValueError("work")
    assert tree(tmp_path) == {"domains": None}


def test_folders_that_another_process_used_meanwhile_stay(tmp_path):
    def use_and_fail():
        with open_below(tmp_path, ("a", "b"), create=True):
            (tmp_path / "a" / "theirs").touch()
            raise ValueError("work")

    with pytest.raises(ValueError, match="work"):
        use_and_fail()
    assert tree(tmp_path) == {"a": None, "a/theirs": b""}


def test_a_missing_folder_is_not_made_by_reading(tmp_path):
    with pytest.raises(FileNotFoundError), open_below(tmp_path, ("a",), create=False):
        pass
    assert tree(tmp_path) == {}
