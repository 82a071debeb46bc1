"""Tools that git ignores are named, with the real git."""

import shutil
import subprocess

import pytest

from pulsus.core.types import Catalogue
from pulsus.core.validators.git_changes import list_hiding_rules, list_ignored_modules
from pulsus.routing.maintenance.catalogue_check import find_git_ignored
from pulsus.routing.starter_catalogue import IGNORED
from tests.ranking import tool

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=30)
    return tmp_path.resolve()


def put(repo, name, text=""):
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def rules(repo, *lines):
    put(repo, ".gitignore", "".join(f"{line}\n" for line in lines))


def test_a_tool_hidden_by_an_unanchored_rule_is_named_with_the_rule(repo):
    rules(repo, "*.pyc", "logs/")
    hidden = put(repo, "workflows/domains/logs/digest/errors.py")
    action = put(repo, "workflows/domains/web/logs/tail.py")
    seen = put(repo, "workflows/domains/web/check/up.py")
    found = list_ignored_modules(repo, [hidden, seen, action])
    assert [one.path for one in found] == [hidden, action]
    assert {str(one.rule) for one in found} == {".gitignore:2: logs/"}


def test_the_rules_that_init_writes_hide_no_tool(repo):
    rules(repo, *IGNORED)
    tools = ("logs/a/x.py", "web/logs/y.py", "pulsus/pulsus/z.py", "tmp/tmp/w.py")
    paths = [put(repo, f"workflows/domains/{name}") for name in tools]
    assert list_ignored_modules(repo, paths) == ()
    assert list_hiding_rules(repo, repo / "workflows") == ()


def test_a_tool_that_is_tracked_is_not_reported(repo):
    rules(repo, "logs/")
    path = put(repo, "workflows/domains/logs/a/x.py")
    subprocess.run(["git", "-C", repo, "add", "-f", path], check=True, timeout=30)
    assert list_ignored_modules(repo, [path]) == ()


def test_a_clone_without_the_hidden_tools_still_shows_the_rule(repo):
    rules(repo, "logs/")
    put(repo, "workflows/domains/web/check/up.py")
    (found,) = list_hiding_rules(repo, repo / "workflows")
    assert str(found.rule) == ".gitignore:1: logs/"


@pytest.mark.parametrize(
    ("file", "rule", "fix"),
    [
        (".gitignore", "certs/", "(/certs/ instead of certs/)"),
        (".gitignore", "/workflows/domains/certs", "take the rule /workflows/domains/certs out"),
        ("workflows/domains/.gitignore", "certs/", "take the rule certs/ out"),
    ],
)
def test_the_hidden_domain_is_named_and_the_advice_has_its_own_rule(repo, file, rule, fix):
    path = put(repo, "workflows/domains/certs/expiry/pem_expiry.py")
    subprocess.run(["git", "-C", repo, "add", "."], check=True, timeout=30)
    put(repo, file, f"{rule}\n")
    one = tool("certs/expiry/pem_expiry", path=path)
    catalogue = Catalogue(repo / "workflows", (one,))
    (found,) = find_git_ignored(catalogue, repo, repo / "workflows")
    assert found.path == repo / "workflows/domains/certs"
    assert fix in found.fix
    path = put(repo, "workflows/domains/certs/expiry/new.py")
    catalogue = Catalogue(repo / "workflows", (tool("certs/expiry/new", path=path),))
    (found,) = find_git_ignored(catalogue, repo, repo / "workflows")
    assert (found.path, fix in found.fix) == (path, True)


def test_a_folder_without_git_is_no_error(tmp_path):
    assert list_ignored_modules(tmp_path, [tmp_path / "x.py"]) == ()


def test_a_name_with_a_line_break_is_reported_whole(repo):
    rules(repo, "*.py")
    path = put(repo, "workflows/domains/a/b/x\ny.py")
    assert [one.path for one in list_ignored_modules(repo, [path])] == [path]


def test_tools_check_reports_ignored_tools_and_records_as_errors(repo):
    rules(repo, "logs/", "metadata.jsonl")
    one = tool("logs/digest/errors", path=put(repo, "workflows/domains/logs/digest/errors.py"))
    two = tool("web/check/up", path=put(repo, "workflows/domains/web/check/up.py"))
    record = put(repo, "workflows/domains/web/check/metadata.jsonl")
    catalogue = Catalogue(repo / "workflows", (one, two))
    found = find_git_ignored(catalogue, repo, repo / "workflows")
    assert [(f.code, f.level, f.path) for f in found] == [
        ("GIT_IGNORED", "error", one.path),
        ("GIT_IGNORED", "error", record),
    ]
