"""The compliance checklist of routing spec §21, one test for each line, and further invariants.

For parts that do not exist yet, a test checks that they are refused and not ignored.
"""

import ast
import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, fields
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD

import pytest

from pulsus.bootstrap import build
from pulsus.config.settings import Settings
from pulsus.core import types
from pulsus.routing.delivery.route_run import RouteOptions
from tests.generation import MODULE, fenced, module
from tests.model_server import playing, says
from tests.project import COMPOSE, COUNT, NOTHING, make, phases, pulsus, pulsus_here, records
from tests.sandboxes import need_sandbox

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "agents/pulsus"
MODULES = sorted(PACKAGE.rglob("*.py"))


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def names_bound(module):
    """Return classes and aliases a module defines at its top level."""
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (t.id for t in node.targets if isinstance(t, ast.Name))


class Silent:
    """A person who is asked, and gives no useful answer."""

    def __init__(self):
        self.questions = []

    def clarify(self, question, understands):
        self.questions.append(question.question)
        return "whatever you like"

    def decide(self, proposal):
        raise AssertionError("not asked to approve")

    def optional_value(self, arg, proposed, words):
        raise AssertionError(words)

    def value(self, arg, proposed="", tool=""):
        raise AssertionError("not asked for a value")

    def example(self, problem):
        raise AssertionError("not asked for an example")

    def confirm_incomplete(self, words):
        raise AssertionError(words)

    def explain_rejection(self, message):
        raise AssertionError("not asked for another input")

    def confirm_run(self, run):
        raise AssertionError("not asked to run")

    def confirm_target(self, run):
        raise AssertionError("not asked to run")

    def reuse(self, module, status, reasons):
        raise AssertionError("not asked about a candidate")


# The ten lines of §21.


def test_shared_types_are_defined_in_core_types_only():
    shared = {name for name in names_bound(tree(PACKAGE / "core/types.py")) if name[0] != "_"}
    assert {"ParsedIntent", "ArgSpec", "ToolSpec", "RouteDecision", "ValidationReport"} <= shared
    # Only a file with such a line can define one: to parse all files takes a second.
    defines = re.compile(rf"^(?:class )?(?:{'|'.join(shared)})\b", re.MULTILINE)
    again = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in MODULES
        if path != PACKAGE / "core/types.py" and defines.search(path.read_text(encoding="utf-8"))
        for name in names_bound(tree(path))
        if name in shared
    }
    assert again == set()


@pytest.mark.seconds
@pytest.mark.sandbox
def test_logs_hold_app_runs_validation_and_metrics_only(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project", "candidate")
    for args in (
        ["route", COUNT, "--non-interactive", "--run", "--input", "text=a"],
        ["route", COMPOSE, "--dry-run"],
        ["route", NOTHING],
        ["promote", "count_lines.py", "--domain", "text", "--action", "count", "--yes"],
        ["validate", "count_vowels.py"],
        ["gc"],
    ):
        pulsus_here(folder, *args)
    assert {p.name for p in (folder / "logs").iterdir()} == {
        "app",
        "runs",
        "validation",
        "metrics",
    }
    assert not list(folder.rglob("_tmp_logs"))
    assert [path for path in MODULES if "_tmp_logs" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    "request_text", [COUNT, "count the words of a text by their first letter", "count words"]
)
def test_a_domain_tool_wins_over_the_shared_one_it_shadows_with_a_warning(request_text, tmp_path):
    folder = make(tmp_path / "project", "shadow", warm=False)
    done = pulsus_here(folder, "route", request_text, "--plan", "--output", "json")
    domain = "workflows/domains/text/count/count_words.py"
    shared = "workflows/shared_tools/count/count_words.py"
    assert done.json["selected"] == ["text/count/count_words"]
    assert done.json["shadowed"] == [{"shared": shared, "domain": domain}]
    assert f"warning: {shared} is shadowed by {domain}: the domain tool wins" in done.err
    (log,) = (folder / "logs/runs").glob("*/steps.log")
    assert f"{shared} is shadowed by {domain}" in log.read_text(encoding="utf-8")


def test_a_shared_tool_answers_where_no_domain_tool_shadows_it(tmp_path):
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "route", "sort rows by a column", "--plan", "--output", "json")
    assert done.json["selected"] == ["shared/sort/top_rows"]
    assert done.json["shadowed"] == []


def test_tau_weights_and_tie_breakers_are_documented_and_printed(tmp_path):
    page = (ROOT / "docs/guides/explain-a-route.md").read_text(encoding="utf-8")
    settings = (ROOT / "config/pulsus.toml").read_text(encoding="utf-8")
    for said in ("name 0.40, doc 0.40, history 0.20", "**τ** (0.60)", "domain tool before shared"):
        assert said in page
    assert "weights = { name = 0.4, doc = 0.4, history = 0.2 }" in settings
    assert "threshold = 0.60" in settings
    env = {"PULSUS_RANKER__THRESHOLD": "0.71", "PULSUS_RANKER__WEIGHTS__DOC": "0.35"}
    shown = pulsus_here(make(tmp_path / "project"), "route", COUNT, "--explain", env=env).out
    assert "weights: name=0.40 doc=0.35 history=0.20  τ=0.71" in shown
    assert "tie-breakers: domain before shared, higher history, shallower path, file name" in shown
    assert re.search(r"^rank +p +score +name +doc +history +tool$", shown, re.MULTILINE)


def test_exactly_one_clarification_is_asked_then_the_best_guess_goes_on(tmp_path):
    folder = make(tmp_path / "project")
    person = Silent()
    app = build(folder, {"parser": {"confidence_threshold": 1.0}})
    outcome = app.router(person).route(COUNT, RouteOptions(plan=True))
    assert len(person.questions) == 1
    assert outcome.decision.selected[0].id == "text/count/count_words"
    assert outcome.clarification
    assert outcome.clarification.answer == "whatever you like"
    sure = Silent()
    assert build(folder, {}).router(sure).route(COUNT, RouteOptions(plan=True)).exit_status == 0
    assert sure.questions == []


def test_without_a_model_nothing_is_generated(tmp_path):
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "route", NOTHING, "--output", "json")
    assert done.json["error"]["code"] == "LLM_NOT_CONFIGURED"
    assert (done.code, done.json["policy"], done.json["selected"]) == (5, "generate", [])
    assert done.json["error"]["hint"]
    assert not (folder / "workflows/_tmp").exists()


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("answer", "step"),
    [
        pytest.param(module(head="import os", body="    os.sync()"), "guardrails", id="allowlist"),
        pytest.param(module(without="Returns"), "guardrails", id="contract"),
        pytest.param(MODULE.rpartition('"""')[2], "static", id="docstring"),
        pytest.param(MODULE.replace("def run", "def work"), "static", id="entry"),
    ],
)
def test_the_generator_rejects_what_breaks_allowlist_or_template(answer, step, tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project")
    with playing(says(fenced(answer))) as server:
        env = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_GENERATOR__ROUNDS": "0"}
        done = pulsus_here(folder, "route", NOTHING, "--output", "json", env=env)
    assert (done.code, done.json["error"]["code"]) == (3, "VALIDATION_FAILED")
    (told,) = done.json["generation"]["rounds"]
    assert (told["step"], bool(told["reasons"])) == (step, True)
    assert records(folder) == []


@pytest.mark.sandbox
def test_validation_is_ruff_mypy_import_dry_run_with_the_clocks_of_the_spec(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "route", COUNT, "--dry-run", "--output", "json")
    assert [step["step"] for step in done.json["validation"]["steps"]] == [
        "static",
        "ruff",
        "mypy",
        "import",
        "dry-run",
    ]
    assert all((folder / artifact).is_file() for artifact in done.json["validation"]["artifacts"])
    rules, caps = Settings().validation, Settings().sandbox
    assert (rules.ruff_seconds, rules.mypy_seconds, rules.import_seconds) == (5, 20, 3)
    assert (caps.max_seconds, caps.max_mem_mb, caps.network) == (30, 512, "off")
    assert {f.name for f in fields(caps)} & {"enabled", "off", "disabled"} == set()


@pytest.mark.sandbox
def test_promotion_writes_jsonl_and_changelog_once_for_a_name_and_hash(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project", "candidate")
    promote = ["promote", "count_lines.py", "--domain", "text", "--action", "count", "--yes"]
    codes = [pulsus_here(folder, *promote).code for _ in range(2)]
    (record,) = records(folder)
    required = (
        *("id", "run_id", "route_id", "name", "domain", "action", "description", "status"),
        *("created_by", "created_at", "version", "tool_hash", "tokens_estimate", "model", "rag"),
    )
    assert codes == [0, 0]
    assert [key for key in required if key not in record] == []
    log = folder / "workflows/domains/text/CHANGELOG.md"
    assert log.read_text(encoding="utf-8").count("## text/count/count_lines ") == 1
    path = folder / "count_lines.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert pulsus_here(folder, *promote).code == 0
    assert [r["version"] for r in records(folder)] == ["1.0.0", "1.0.1"]


def test_every_flag_of_the_spec_is_there(tmp_path):
    shown = pulsus_here(tmp_path, "route", "--help").out
    flags = ("--dry-run", "--non-interactive", "--explain", "--plan", "--run", "--input")
    assert [f for f in (*flags, "--cache / --no-cache", "--rag / --no-rag") if f not in shown] == []


def test_cache_rag_and_manifests_are_optional(tmp_path):
    settings = Settings()
    assert (settings.cache_enabled, settings.rag_enabled, settings.embeddings_enabled) == (
        True,
        False,
        False,
    )
    folder = make(tmp_path / "project")
    plan = ["route", COUNT, "--plan"]
    plain = pulsus_here(folder, *plan).out
    assert pulsus_here(folder, *plan, "--no-cache", "--no-rag").out == plain
    hints = folder / "workflows/domains/text/count/count_words.tool.yaml"
    hints.write_text("intents: [tally]\nhints:\n  anti_intents: [weigh]\n", encoding="utf-8")
    assert pulsus_here(folder, *plan).out == plain
    hints.write_text("intents: [tally\n", encoding="utf-8")
    damaged = pulsus_here(folder, *plan)
    assert damaged.out == plain
    assert "count_words.tool.yaml" in damaged.err


# Beside the list.


def test_nothing_imports_the_package_through_its_folder():
    files = [p for part in ("agents", "tests", "scripts") for p in (ROOT / part).rglob("*.py")]
    found = [
        str(path.relative_to(ROOT))
        for path in files
        if "agents" in path.read_text(encoding="utf-8")
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "agents")
        or (
            isinstance(node, ast.Import)
            and any(a.name.split(".")[0] == "agents" for a in node.names)
        )
    ]
    assert found == []


@contextmanager
def pipe(path, size):
    """Make a named pipe of this size; yield a function that counts its unread bytes."""
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(held, b"x" * size)
        yield lambda: int.from_bytes(ioctl(held, FIONREAD, bytes(4)), sys.byteorder)
    finally:
        os.close(held)


@pytest.mark.seconds
@pytest.mark.sandbox
def test_routing_and_validating_never_import_a_tool_in_the_routers_process(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project", "canary", warm=False)
    canary = folder / "workflows/domains/zoo/feed/feed_penguin.py"
    marker = tmp_path / "imported"
    text = canary.read_text(encoding="utf-8").replace("MARKER", str(marker))
    canary.write_text(text, encoding="utf-8")
    request = "feed a penguin with fish"
    with pipe(marker, 64) as unread:
        for args in (
            ["tools", "list"],
            ["tools", "show", "feed_penguin"],
            ["tools", "check"],
            ["route", request, "--explain"],
            ["route", request, "--plan"],
            ["route", request, "--non-interactive"],
            ["validate", str(canary)],
        ):
            done = pulsus_here(folder, *args)
            assert done.code == 0, done.out + done.err
            loaded = {getattr(each, "__file__", None) for each in [*sys.modules.values()]}
            assert str(canary) not in loaded
            assert "PENGUIN_WAS_IMPORTED" not in os.environ
            assert unread() == 64
        assert [r["name"] for r in records(folder)] == ["feed_penguin.py"]
        ran = pulsus(folder, "run", "feed_penguin", "--input", "fish=3", "--output", "json")
        assert ran.json["result"] == {"eaten": 3}
        assert unread() < 64, "the canary never sings, so its silence proves nothing"


@pytest.mark.sandbox
def test_nothing_is_written_into_the_package_while_routing(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project")
    written: list[Path] = []
    watching = True

    def watch(event, args):
        """Note every file opened to be written."""
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT
        if (watching and event == "open" and isinstance(args[0], str | bytes)) and args[2] & writes:
            written.append(Path(os.fsdecode(args[0])))

    sys.addaudithook(watch)
    try:
        done = pulsus_here(folder, "route", COUNT, "--non-interactive")
    finally:
        watching = False
    assert done.code == 0
    assert any(path.is_relative_to(folder / "logs") for path in written)
    inside = [p for p in written if p.is_relative_to(ROOT / "agents")]
    assert [p for p in inside if "__pycache__" not in p.parts] == []


def test_every_event_of_a_run_has_the_required_fields(tmp_path):
    folder = make(tmp_path / "project")
    pulsus_here(folder, "route", COMPOSE, "--explain")
    (log,) = (folder / "logs/runs").glob("*/steps.log")
    required = [
        *("ts", "run_id", "route_id", "phase", "candidates", "features", "weights", "top_score"),
        *("policy", "decision", "artifacts"),
    ]
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert {tuple(line)[: len(required)] for line in lines} == {tuple(required)}
    assert {line["run_id"] for line in lines} == {log.parent.name}
    ranked = next(line for line in lines if line["phase"] == "rank")
    assert ranked["weights"] == {"name": 0.4, "doc": 0.4, "history": 0.2}
    assert 0 <= ranked["top_score"] <= 1
    assert phases(folder)[-1] == "end"


def test_the_shared_types_are_frozen():
    values = [
        v for v in vars(types).values() if isinstance(v, type) and v.__module__ == types.__name__
    ]
    assert len(values) > 20
    for value in values:
        with pytest.raises(FrozenInstanceError):
            setattr(object.__new__(value), "kind", "other")  # noqa: B010 - the point is that it fails
