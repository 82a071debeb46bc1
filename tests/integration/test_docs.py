"""Every command in README and docs runs, with the files the text shows."""

import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.project import lend_types, pulsus

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OWN_TEST = ROOT / "docs/guides/your-own-repository.md"
"""It needs an empty repository: test_docs_own_repository.py runs it."""
PULSUS = Path(sys.executable).with_name("pulsus")

FILES = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
ANCHORS = re.compile(r"\]\((?!https?:)([^)#]*\.md)?#([^)]+)\)")
HEADINGS = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINKS = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def commands(page):
    blocks = CONSOLE.findall(page.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ pulsus ")]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    subprocess.run([PULSUS, "init", folder], check=True, capture_output=True, timeout=60)
    lend_types(folder)
    # Enough for the floors that the pages name. test_golden_requests.py asks all of them.
    golden = folder / "config/golden.jsonl"
    rows = golden.read_text(encoding="utf-8").splitlines(keepends=True)
    golden.write_text("".join(rows[::8]), encoding="utf-8")
    return folder


@pytest.fixture
def settings_restored(project, tmp_path):
    """Take back what a page changes in config/, because the settings of one hold for all pages."""
    shutil.copytree(project / "config", tmp_path / "config")
    yield
    shutil.rmtree(project / "config")
    shutil.copytree(tmp_path / "config", project / "config")


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("settings_restored")
@pytest.mark.parametrize(
    "page", [p for p in PAGES if commands(p) and p != OWN_TEST], ids=lambda p: p.name
)
def test_every_command_on_the_page_works(page, project):
    for name, text in FILES.findall(page.read_text(encoding="utf-8")):
        (project / name).write_text(text, encoding="utf-8")
    for command in commands(page):
        done = subprocess.run(
            [PULSUS, *shlex.split(command)[1:]],
            cwd=project,
            capture_output=True,
            text=True,
            timeout=400,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


@pytest.mark.seconds
def test_the_request_of_add_a_tool_selects_the_tool_it_adds_and_no_starter_tool(tmp_path):
    page = ROOT / "docs/guides/add-a-tool.md"
    name, source = FILES.findall(page.read_text(encoding="utf-8"))[0]
    promote = next(c for c in commands(page) if c.startswith("pulsus promote "))
    where = dict(pairwise(shlex.split(promote)))
    request = next(shlex.split(c)[1] for c in commands(page) if c.startswith('pulsus "'))
    shutil.copytree(ROOT / "workflows", tmp_path / "workflows")
    folder = tmp_path / "workflows/domains" / where["--domain"] / where["--action"]
    (folder / name).write_text(source, encoding="utf-8")
    done = pulsus(tmp_path, "explain", request, "--output", "json")
    tool = f"{where['--domain']}/{where['--action']}/{Path(name).stem}"
    assert done.json["selected"] == [tool]


@pytest.mark.seconds
def test_the_conditions_of_the_page_ask_are_not_lost_by_the_starter_catalogue(tmp_path):
    text = (ROOT / "docs/guides/ask.md").read_text(encoding="utf-8")
    table = text.partition("| you say | it fills |\n")[2].partition("\n\n")[0]
    rows = [re.findall(r"`([^`]+)`", line) for line in table.splitlines()[1:]]
    assert len(rows) > 5
    shutil.copytree(ROOT / "workflows", tmp_path / "workflows")
    for request, *names in rows:
        found = pulsus(tmp_path, "explain", request, "--output", "json").json
        filled = {name for name, each in found["inputs"].items() if each["source"] == "request"}
        assert {name for name in names if name.isalpha()} <= filled, request
    (bare,) = re.findall(r"and a\s+note says so: `([^`]+)`", text)
    found = pulsus(tmp_path, "explain", bare, "--output", "json").json
    assert any(note.startswith("left out: ") for note in found["notes"])


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_demo_runs_to_its_end():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "demo.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\S*memory_summary\.py: accepted \(behaviour\)$", done.stdout, re.MULTILINE)
    assert re.search(r"^ram .*GiB .* %  (yes|no)$", done.stdout, re.MULTILINE)
    assert len((done.stdout + done.stderr).splitlines()) < 40


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_setup_says_what_to_do_next_also_if_everything_is_installed(tmp_path):
    (tmp_path / ".all").touch()
    command = ["make", "--no-print-directory", "setup", f"VENV={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"next: . {tmp_path}/bin/activate\n"


def test_every_relative_link_leads_somewhere():
    links = [(page, t) for page in PAGES for t in LINKS.findall(page.read_text(encoding="utf-8"))]
    assert len(links) > 100
    missing = [
        f"{page.relative_to(ROOT)}: {t}" for page, t in links if not (page.parent / t).exists()
    ]
    assert missing == []


def test_every_link_to_a_heading_finds_it():
    lost = []
    for page in PAGES:
        for target, anchor in ANCHORS.findall(page.read_text(encoding="utf-8")):
            there = (page.parent / target).resolve() if target else page
            headings = HEADINGS.findall(there.read_text(encoding="utf-8"))
            if anchor not in {slug(heading) for heading in headings}:
                lost.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert lost == []


def slug(heading):
    """The name that the forges give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w -]", "", plain.strip()).replace(" ", "-")


def test_every_error_code_and_exit_status_is_documented():
    from pulsus import errors

    page = (ROOT / "docs/exit-codes.md").read_text(encoding="utf-8")
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    known = {c.code: c.exit_status for c in classes if issubclass(c, errors.PulsusError)}
    listed = dict(re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", page, re.MULTILINE))
    assert {code: int(status) for code, status in listed.items()} == known


def test_every_hook_is_documented():
    from pulsus.plugins import hookspecs

    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    hooks = [name for name in vars(hookspecs) if name.startswith("pulsus_")]
    assert hooks
    assert [name for name in hooks if f"`{name}`" not in page] == []


def test_every_layer_is_on_the_map():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    package = ROOT / "agents/pulsus"
    rooms = [p.name for p in package.iterdir() if p.is_dir() and (p / "__init__.py").exists()]
    assert [room for room in rooms if f"`{room}/" not in page] == []
