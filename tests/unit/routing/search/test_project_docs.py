"""The project's docs are read for hints, and only the project's."""

import os

import pytest

from pulsus.core.retrieval.passage_index import PassageIndex
from pulsus.routing.search import project_docs as rag
from pulsus.routing.search.project_docs import ProjectDocs
from tests.ranking import tool

TOOLS = [
    tool("storage/clean/delete_old_files", "Delete old files."),
    tool("storage/usage/disk_usage", "Show how full disks are."),
]


@pytest.fixture
def project(tmp_path):
    def write(name, text):
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write("docs/runbook.md", "# Attic\nThe attic is crammed: see disk_usage.\n")
    write("docs/ADRs/0001-x.md", "# Cellar\nThe cellar is damp.\n")
    write("ADRs/0001-y.md", "# Pantry\nThe pantry is bare.\n")
    write("workflows/domains/storage/README.md", "# Loft\nThe loft is dusty.\n")
    write("workflows/domains/storage/clean/README.md", "# Broom\nThe broom is worn.\n")
    write("docs/picture.txt", "The gallery is closed.")
    return tmp_path / "project"


def docs(project, state=True):
    return ProjectDocs(project, project / "workflows", project / ".pulsus" if state else None)


def sources(project, text, **kwargs):
    return [p.source for p in docs(project, **kwargs).shelf(TOOLS).passages(text)]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("crammed attic", "docs/runbook.md"),
        ("damp cellar", "docs/ADRs/0001-x.md"),
        ("bare pantry", "ADRs/0001-y.md"),
        ("dusty loft", "workflows/domains/storage/README.md"),
        ("delete files", "storage/clean/delete_old_files"),
    ],
)
def test_docs_decisions_readmes_and_docstrings_are_searched(project, text, source):
    assert sources(project, text)[0] == source


def test_other_files_are_not_read(project):
    assert sources(project, "closed gallery") == []


def test_a_readme_speaks_of_its_folder(project):
    shelf = docs(project).shelf(TOOLS)
    assert shelf.passages("dusty loft")[0].places == (("storage", "clean"), ("storage", "usage"))
    assert shelf.passages("worn broom")[0].places == (("storage", "clean"),)


def test_a_link_out_of_the_project_is_not_followed(project, tmp_path):
    (tmp_path / "secret.md").write_text("# Vault\nThe vault is locked.\n", encoding="utf-8")
    (project / "docs" / "vault.md").symlink_to(tmp_path / "secret.md")
    (project / "docs" / "loop.md").symlink_to(project / "docs" / "loop.md")
    assert sources(project, "locked vault") == []


def test_stored_passages_are_used_until_a_file_changes(project, monkeypatch):
    first = docs(project).shelf(TOOLS)
    with monkeypatch.context() as patched:
        patched.setattr(PassageIndex, "of", lambda sections: pytest.fail("cut anew"))
        assert docs(project).shelf(TOOLS) == first
    (project / "docs" / "runbook.md").write_text("# Barn\nThe barn is red.\n", encoding="utf-8")
    assert sources(project, "red barn") == ["docs/runbook.md"]
    assert sources(project, "crammed attic") == []


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[:-3], id="cut short"),
        pytest.param(lambda data: data.replace(b"attic", b"altar"), id="other words"),
        pytest.param(lambda data: b"[1]\n" + data, id="other header"),
    ],
)
def test_a_damaged_file_is_rebuilt_with_one_warning(project, damage):
    first = docs(project).shelf(TOOLS)
    path = project / ".pulsus/cache/rag/passages.jsonl"
    path.write_bytes(damage(path.read_bytes()))
    found = docs(project)
    assert found.shelf(TOOLS) == first
    assert ["rebuilt" in line for line in found.warnings] == [True]
    healed = docs(project)
    assert healed.shelf(TOOLS) == first
    assert healed.warnings == []


def test_without_a_state_folder_nothing_is_kept(project):
    assert sources(project, "damp cellar", state=False) == ["docs/ADRs/0001-x.md"]
    assert not (project / ".pulsus").exists()


def test_a_file_that_is_too_large_is_skipped_with_a_warning(project, monkeypatch):
    monkeypatch.setattr(rag, "MAX_BYTES", 40)
    found = docs(project)
    found.shelf(TOOLS)
    assert any("runbook.md" in line for line in found.warnings)


def test_too_many_files_are_skipped_with_a_warning(project, monkeypatch):
    monkeypatch.setattr(rag, "MAX_FILES", 2)
    found = docs(project)
    found.shelf(TOOLS)
    assert found.warnings == ["only the first 2 files of docs are read for hints"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_gives_a_warning(project):
    (project / "docs" / "runbook.md").chmod(0)
    found = docs(project)
    found.shelf(TOOLS)
    assert any("runbook.md" in line for line in found.warnings)


def test_text_that_is_not_utf8_is_read_as_far_as_it_goes(project):
    (project / "docs" / "runbook.md").write_bytes(b"# Barn\nThe barn is \xff red.\n")
    assert sources(project, "red barn") == ["docs/runbook.md"]


def test_a_project_without_docs_has_its_docstrings(tmp_path):
    assert sources(tmp_path, "delete files") == ["storage/clean/delete_old_files"]
