"""Kept verdicts: used only for exactly the same, never instead of proof."""

import json
import zlib
from dataclasses import replace

import pytest

from pulsus.config.settings import SandboxConfig, ValidationConfig
from pulsus.core.sandbox.isolation import bubblewrap
from pulsus.core.sandbox.job import SandboxOutcome
from pulsus.core.system import cache_file
from pulsus.core.types import ValidatedModule
from pulsus.core.validators import cache_key as module
from pulsus.core.validators.batch import Batch
from pulsus.core.validators.cache_key import compute_cache_key
from pulsus.core.validators.steps import mypy_prestart
from pulsus.core.validators.verdict_cache import Cache
from pulsus.errors import HashMoved
from tests.candidates import DOCUMENTED, pipeline, read, tool_of
from tests.imports import PACKAGE, imported_files

GOOD = DOCUMENTED.encode()
QUIET = "import os, sys\nos.chdir(sys.argv[1])\nsys.stdin.readline()\n"
"""In mypy's place: a process that finds nothing, as it does in every module here."""


@pytest.fixture(autouse=True)
def quiet(request, monkeypatch):
    """Cached verdicts do not depend on the time of a checker. One test asks the real mypy."""
    if "real_mypy" not in request.fixturenames:
        monkeypatch.setattr(mypy_prestart, "WAIT", QUIET)


@pytest.fixture
def real_mypy():
    """For a test that lets mypy itself look."""


class Sandbox:
    """Counts its runs, and answers as told."""

    def __init__(self, **given):
        self.runs = 0
        self.answer = SandboxOutcome("ok", "done", value={"value": 8}, import_ms=3, run_ms=4)
        self.answer = replace(self.answer, **given)

    def __call__(self, job, limits):
        self.runs += 1
        return self.answer


def batch(folder, sandbox, *, basis="b", steps=lambda source: {}, define=None):
    logs = folder / "logs"
    return Batch(
        pipeline(folder, run=sandbox),
        define or (lambda source, path: replace_path(read(source, path.stem), path)),
        steps,
        folder,
        Cache(folder / "verdicts", basis, logs),
    )


def replace_path(tool, path):
    return replace(tool, path=path)


def one(using, folder, source=GOOD, name="double"):
    (found,) = using.check([(folder / f"{name}.py", source)])
    return found


def test_the_same_bytes_are_not_run_again(tmp_path, real_mypy):
    sandbox = Sandbox()
    first = one(batch(tmp_path, sandbox), tmp_path)
    again = one(batch(tmp_path, sandbox), tmp_path)
    assert sandbox.runs == 1
    assert (first.report.cached, again.report.cached) == (False, True)
    assert replace(again.report, cached=False) == first.report
    assert again.declared == first.declared


def test_a_cached_acceptance_gives_no_validated_module(tmp_path):
    using = batch(tmp_path, Sandbox())
    one(using, tmp_path)
    known = one(using, tmp_path).report
    assert known.ok
    with pytest.raises(ValueError, match="earlier run"):
        ValidatedModule(GOOD, tool_of(GOOD), known)


def test_a_pipeline_never_reads_the_cache(tmp_path):
    sandbox = Sandbox()
    using = batch(tmp_path, sandbox)
    one(using, tmp_path)
    report, validated = using.pipeline.validate(GOOD, tmp_path / "double.py", read(GOOD))
    assert sandbox.runs == 2
    assert validated is not None
    assert not report.cached


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"source": GOOD + b"# new\n"}, id="bytes"),
        pytest.param({"name": "other"}, id="place"),
        pytest.param({"basis": "c"}, id="tools or settings"),
    ],
)
def test_any_other_change_checks_the_module_again(tmp_path, change):
    sandbox = Sandbox()
    one(batch(tmp_path, sandbox), tmp_path)
    using = batch(tmp_path, sandbox, basis=change.pop("basis", "b"))
    assert not one(using, tmp_path, **change).report.cached
    assert sandbox.runs == 2


def test_an_unverified_result_is_never_cached(tmp_path):
    sandbox = Sandbox(status="unverified", stage="start", message="no sandbox")
    for _ in range(2):
        assert one(batch(tmp_path, sandbox), tmp_path).report.verdict == "unverified"
    assert sandbox.runs == 2


def test_a_failed_run_is_tried_again_it_may_have_been_late(tmp_path):
    sandbox = Sandbox(status="failed", stage="run", message="took longer than 30 s")
    for _ in range(2):
        assert one(batch(tmp_path, sandbox), tmp_path).report.verdict == "refused"
    assert sandbox.runs == 2


def test_a_refusal_by_a_checker_is_cached(tmp_path):
    bad = DOCUMENTED.replace("2 * value", "2 * valeu").encode()
    using = batch(tmp_path, Sandbox())
    assert not one(using, tmp_path, bad).report.cached
    known = one(using, tmp_path, bad).report
    assert (known.cached, known.verdict) == (True, "refused")
    assert "F821" in known.steps[-1].output


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[: len(data) // 2], id="cut"),
        pytest.param(lambda data: b"\x00" * 100, id="noise"),
        pytest.param(lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:], id="one bit"),
        pytest.param(lambda data: b"{}\n" + data.rpartition(b"\n")[2], id="other body"),
    ],
)
def test_a_damaged_verdict_is_checked_anew_and_replaced(tmp_path, damage):
    sandbox = Sandbox()
    one(batch(tmp_path, sandbox), tmp_path)
    (file,) = (tmp_path / "verdicts").glob("*.json")
    file.write_bytes(damage(file.read_bytes()))
    assert not one(batch(tmp_path, sandbox), tmp_path).report.cached
    assert sandbox.runs == 2
    assert one(batch(tmp_path, sandbox), tmp_path).report.cached


def test_a_verdict_that_its_own_steps_do_not_bear_out_is_not_believed(tmp_path):
    bad = DOCUMENTED.replace("2 * value", "2 * valeu").encode()
    using = batch(tmp_path, Sandbox())
    one(using, tmp_path, bad)
    (file,) = (tmp_path / "verdicts").glob("*.json")
    column = cache_file.unpack(file.read_bytes(), file.stem).columns["verdict"]
    found = json.loads(zlib.decompress(column))
    found["report"]["verdict"] = "accepted"
    body = zlib.compress(json.dumps(found).encode())
    file.write_bytes(cache_file.pack(file.stem, None, {"verdict": body}))
    assert one(using, tmp_path, bad).report.verdict == "refused"


def test_a_cache_that_cannot_be_written_keeps_nothing_and_checks_all(tmp_path):
    sandbox = Sandbox()
    (tmp_path / "verdicts").write_text("a file", encoding="utf-8")
    for _ in range(2):
        assert one(batch(tmp_path, sandbox), tmp_path).report.ok
    assert sandbox.runs == 2


def test_a_cached_verdict_names_its_log_only_while_the_log_exists(tmp_path):
    using = batch(tmp_path, Sandbox())
    one(using, tmp_path)
    known = one(using, tmp_path).report
    assert known.artifacts
    assert all(path.is_file() for path in known.artifacts)
    for path in known.artifacts:
        path.unlink()
    assert one(using, tmp_path).report.artifacts == ()


COMPOSED = b'''"""Double twice.

Examples:
    - inputs: {start: 3}
"""

from typing import Any

from pulsus.steps import call


def run(start: int) -> Any:
    """Four times the number."""
    return call("shared/math/double", value=start)
'''


def test_a_composition_is_checked_anew_once_a_step_changed(tmp_path):
    sandbox, now = Sandbox(), {"source": GOOD}

    def steps(source):
        code = now["source"]
        return {"shared/math/double": (tool_of(code), code)}

    using = batch(tmp_path, sandbox, steps=steps)
    assert not one(using, tmp_path, COMPOSED).report.cached
    assert one(using, tmp_path, COMPOSED).report.cached
    now["source"] = GOOD + b"# new\n"
    assert not one(using, tmp_path, COMPOSED).report.cached


def test_a_composition_whose_steps_moved_is_refused_and_the_others_are_judged(tmp_path):
    def moved(source):
        raise HashMoved("step s1: it is not what the plan was made from")

    using = batch(tmp_path, Sandbox(), steps=moved)
    files = [(tmp_path / "both.py", COMPOSED), (tmp_path / "double.py", GOOD)]
    both, double = using.check(files)
    assert (both.report.verdict, double.report.verdict) == ("refused", "accepted")
    assert "HASH_MOVED" in both.report.summary
    assert not using.check(files)[0].report.cached


def digest(**given):
    known = {"validation": ValidationConfig(), "sandbox": SandboxConfig(), "plugins": ()}
    return compute_cache_key(**{**known, **given})


def test_a_compiled_file_that_another_process_is_writing_loses_no_verdict(tmp_path, monkeypatch):
    compiled = tmp_path / "core/validators/__pycache__"
    compiled.mkdir(parents=True)
    (compiled.parent / "one.py").write_text("", encoding="utf-8")
    (compiled / "one.cpython-311.pyc.140234").write_bytes(b"half")
    monkeypatch.setattr(module, "_PACKAGE", tmp_path)
    assert [file.name for file in module.list_key_sources()] == ["one.py"]


def test_verdicts_rest_on_settings_tools_and_our_own_code(tmp_path, monkeypatch):
    before = digest()
    assert digest() == before
    assert digest(validation=ValidationConfig(ruff_rules=("F",))) != before
    assert digest(sandbox=SandboxConfig(max_seconds=1.0)) != before
    assert digest(plugins=(("house", test_verdicts_rest_on_settings_tools_and_our_own_code),))
    monkeypatch.setattr(bubblewrap, "candidates", lambda: ())
    assert digest() != before
    monkeypatch.undo()
    (tmp_path / "site-packages" / "requests-2.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    assert digest() != before
    monkeypatch.undo()
    (tmp_path / "new.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(module, "list_key_sources", lambda: [tmp_path / "new.py"])
    assert digest() != before


def test_every_module_that_decides_on_a_verdict_is_part_of_the_cache_key():
    keyed = {file.relative_to(PACKAGE) for file in module.list_key_sources()}
    deciding = imported_files(
        "pulsus.core.validators.pipeline",
        "pulsus.core.validators.batch",
        "pulsus.core.validators.verdict_cache",
    )
    settings = {file for file in deciding if file.parts[0] == "config"}  # their values are keyed
    assert {PACKAGE / file for file in deciding - settings - keyed} == set()
    assert {file.parts[:3] for file in keyed} >= {("core", "validators", "steps")}


def test_the_cache_key_covers_data_files_and_sub_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PACKAGE", tmp_path)
    monkeypatch.setattr(module, "_OWN", ("core/validators",))
    folder = tmp_path / "core/validators/steps/inner"
    folder.mkdir(parents=True)
    seen = [digest()]
    for name in ("a.py", "words.yaml"):
        (folder / name).write_text("one", encoding="utf-8")
        seen.append(digest())
        (folder / name).write_text("two", encoding="utf-8")
        seen.append(digest())
    assert len(set(seen)) == len(seen)


def test_a_plugins_check_whose_code_cannot_be_read_keeps_no_verdicts():
    made = eval("lambda source, tool: None", {"__name__": "nowhere"})
    assert digest(plugins=(("made", made),)) is None
