"""docs/architecture.md names every package, and only paths that exist."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "agents/pulsus"
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
MARKED = re.findall(r"`([\w./<>-]+)`", PAGE)
PATHS = sorted({m for m in MARKED if "/" in m or m.endswith((".py", ".toml", ".yaml", ".j2"))})
OUTSIDE = (
    "agents/",
    "workflows/",
    "logs/",
    ".pulsus/",
    "src/",
    "app/",
    "runs/",
    "validation/DATE/",
)
QUESTIONS = PAGE.partition("## Where do I change")[2].partition("\n## ")[0]


def test_the_map_names_only_paths_that_exist():
    inside = [path for path in PATHS if not path.startswith((*OUTSIDE, "metrics/"))]
    assert len(inside) > 50
    missing = [p for p in inside if not (PACKAGE / p).exists() and not (ROOT / p).exists()]
    assert missing == []


def test_every_package_is_on_the_map():
    packages = {p.parent.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("__init__.py")}
    top = {
        p for p in packages if p.count("/") == (p.startswith("core/")) and p not in (".", "core")
    }
    assert sorted(p for p in top if f"`{p}/`" not in PAGE) == []


def test_the_map_answers_thirty_questions():
    rows = [line for line in QUESTIONS.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) >= 30


def test_no_folder_has_too_many_modules():
    folders = {p.parent for p in PACKAGE.rglob("*.py")}
    sizes = {f: len([p for p in f.glob("*.py") if p.name != "__init__.py"]) for f in folders}
    assert {str(f.relative_to(PACKAGE)): n for f, n in sizes.items() if n > 14} == {}


def test_every_package_states_its_purpose_in_one_line():
    for init in PACKAGE.rglob("__init__.py"):
        first = init.read_text(encoding="utf-8").partition("\n")[0]
        assert first.startswith('"""'), init
        assert len(first) > 30, init


def test_no_class_name_stands_for_two_classes():
    found = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[name].add(path.relative_to(PACKAGE).as_posix())
    assert {name: sorted(paths) for name, paths in found.items() if len(paths) > 1} == {}


def test_no_file_name_stands_for_two_modules():
    found = Counter(p.name for p in PACKAGE.rglob("*.py") if p.name != "__init__.py")
    assert [name for name, times in found.items() if times > 1] == []


def test_no_docstring_points_to_a_file_that_does_not_exist():
    """First lines name the file that decides; a rename must not leave them behind."""
    names = {p.name for p in PACKAGE.rglob("*") if p.is_file()}
    pointers, missing = 0, []
    for module in PACKAGE.rglob("*.py"):
        docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
        for named in re.findall(r"`([a-z\d_./-]+\.(?:py|toml|yaml|j2))`", docstring):
            pointers += 1
            folders = (ROOT, *module.parents[: len(module.relative_to(PACKAGE).parts)])
            exists = any((folder / named).is_file() for folder in folders)
            if not exists and named not in names:
                missing.append((module.relative_to(PACKAGE).as_posix(), named))
    assert pointers > 300
    assert missing == []
