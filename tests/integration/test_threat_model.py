"""Each promise of docs/threat-model.md names code and a test that exist."""

import itertools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/threat-model.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r" \| ", line.strip("| "))]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| who ", "| --- "))
]
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
FUNCTIONS = {
    name
    for path in TESTS
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
}
STEMS = {path.stem for path in TESTS}
PACKAGE = ROOT / "agents/pulsus"
MODULES = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")}
FOLDERS = {parent.as_posix() for name in MODULES for parent in Path(name).parents}


def marked(cell):
    return re.findall(r"`([^`]+)`", cell)


def names_of_tests(cell):
    """Return files and functions; words that stand for groups of a parametrized test are left
    out.
    """
    for token in marked(cell):
        for part in re.split(r"::", token):
            name = Path(part).name.removesuffix(".py")
            if name.startswith("test_"):
                yield name


def test_the_page_has_promises():
    assert len(ROWS) > 40
    assert {len(row) for row in ROWS} == {4}


def test_a_promise_names_a_test_that_exists():
    known = STEMS | FUNCTIONS
    for row in ROWS:
        if row[3].startswith("the same"):
            continue  # as the row above, which is checked
        named = list(names_of_tests(row[3]))
        assert named, row
        assert [name for name in named if name not in known] == []


def test_a_promise_names_code_that_exists():
    for token in itertools.chain.from_iterable(marked(row[2]) for row in ROWS):
        if token.endswith(".py"):
            assert any(f"/{name}".endswith(f"/{token}") for name in MODULES), token
        elif "/" in token and "." not in token and not token.startswith("/"):
            assert token in FOLDERS or f"{token}.py" in MODULES, token


def test_every_link_of_the_page_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
