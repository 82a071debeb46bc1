"""A warm command imports no library for fitting or serving: that would make it slow."""

import json
import subprocess
import sys

import pytest

from tests.project import COUNT, SELECT, make, pulsus

HEAVY = {
    "sklearn",
    "scipy",
    "numpy",
    "mypy",
    "rich",
    "mcp",
    "starlette",
    "uvicorn",
    "jinja2",
    "onnxruntime",
    "pydantic",
    "pydantic_settings",
    "yaml",
    "asyncio",
    "importlib.metadata",
    "multiprocessing",
    "subprocess",
}

PROBE = """
import json, sys
sys.argv = ["pulsus", *sys.argv[1:]]
from pulsus.__main__ import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def modules(folder, *args):
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *args], cwd=folder, capture_output=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


COMPILED = """
import json, re._compiler, sys
compile, count = re._compiler.compile, []
re._compiler.compile = lambda *args: count.append(args[0]) or compile(*args)
sys.argv = ["pulsus", *sys.argv[1:]]
from pulsus.__main__ import main
try:
    main()
except SystemExit:
    pass
print(len(count), file=sys.stderr)
"""


def patterns(folder, *args):
    """Return how many regular expressions a command compiles."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, *args], cwd=folder, capture_output=True, check=True
    )
    return int(done.stderr.splitlines()[-1])


def imported(folder, *args):
    return modules(folder, *args) & HEAVY


@pytest.mark.seconds
def test_a_warm_route_imports_no_heavy_library(tmp_path):
    folder = make(tmp_path / "project")
    for _ in range(2):
        assert pulsus(folder, "route", COUNT, "--plan", "--output", "json").code == 0
    for request in (COUNT, SELECT, "bake a sourdough loaf"):
        assert imported(folder, "route", request, "--plan", "--output", "json") == set()


@pytest.mark.seconds
def test_a_warm_route_compiles_few_of_its_patterns(tmp_path):
    folder = make(tmp_path / "project")
    for request in (COUNT, SELECT, "bake a sourdough loaf"):
        for _ in range(2):
            assert pulsus(folder, "route", request, "--plan", "--output", "json").code in (0, 5)
        found = patterns(folder, "route", request, "--plan", "--output", "json")
        assert found < 150, f"{request!r} compiles {found} regular expressions"
    assert patterns(tmp_path, "--version") < 20


def test_asking_for_the_version_or_a_completion_imports_no_heavy_library(tmp_path):
    assert imported(tmp_path, "--version") == set()


MODULE = "workflows/domains/text/count/count_words.py"


@pytest.mark.seconds
@pytest.mark.parametrize(
    "args",
    [
        ("route", COUNT, "--plan", "--no-cache"),
        ("explain", COUNT),
        ("run", "text/count/count_words", "--input", "text=two words"),
        ("validate", MODULE),
        ("commands", "classify", "df -h"),
        ("eval", "requests.jsonl"),
    ],
    ids=["route", "explain", "run", "validate", "commands classify", "eval"],
)
def test_a_first_command_never_imports_scikit_learn(tmp_path, args):
    folder = make(tmp_path / "project", "requests", warm=False)
    loaded = modules(folder, *args)
    assert "pulsus.bootstrap" in loaded or args[0] in ("validate", "commands")
    assert loaded.isdisjoint({"sklearn", "scipy", "joblib"})


@pytest.mark.seconds
def test_only_the_engine_of_the_specification_imports_scikit_learn_for_a_route(
    tmp_path, monkeypatch
):
    folder = make(tmp_path / "project", warm=False)
    monkeypatch.setenv("PULSUS_RANKER__ENGINE", "spec")
    assert "sklearn" in modules(folder, "route", COUNT, "--plan")
