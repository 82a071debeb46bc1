"""Plugins through the real command: their additions, and isolation from a bad one.

docs/plugins.md. A plugin is put on the path with a hand-made `dist-info`, as pip would leave it.
"""

import re
import sys
from textwrap import dedent

import pytest

from pulsus.plugins import hookspecs
from tests.project import FIXTURES, make, pulsus, pulsus_here, trust
from tests.promotions import tree
from tests.sandboxes import need_sandbox

GREETER = "workflows/domains/demo/greet/say_hello.py"
HELLO = "say hello, a friendly greeting for a person"
HOOKS = {
    "pulsus_command_tables",
    "pulsus_content_inspectors",
    "pulsus_fact_sources",
    "pulsus_features",
    "pulsus_model_providers",
    "pulsus_synonyms",
    "pulsus_tool_sources",
    "pulsus_validators",
}


def register(site, name, value, version="1.0"):
    """Write the files of an installed distribution with one entry point."""
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[pulsus.plugins]\n{name} = {value}\n")


def path(*folders):
    return {"PYTHONPATH": ":".join(map(str, folders))}


@pytest.fixture
def example(tmp_path):
    """The environment in which the example plugin is installed."""
    register(tmp_path / "site", "example", "pulsus_example")
    return path(tmp_path / "site", FIXTURES / "example_plugin")


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "project")


@pytest.fixture
def bad(tmp_path, monkeypatch):
    """Makes a plugin `acme` of this source; gives its environment. It is on this path too."""

    def install(source):
        register(tmp_path / "site", "acme", "acme_pulsus")
        header = "from pulsus.plugins.api import hookimpl\n"
        (tmp_path / "site/acme_pulsus.py").write_text(header + dedent(source))
        monkeypatch.syspath_prepend(tmp_path / "site")
        return path(tmp_path / "site")

    yield install
    sys.modules.pop("acme_pulsus", None)


def test_the_documented_hooks_are_the_hooks():
    page = (FIXTURES.parents[1] / "docs/plugins.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert documented == {n for n in vars(hookspecs) if n.startswith("pulsus_")} == HOOKS


@pytest.mark.seconds
def test_an_installed_plugin_is_listed_with_its_hooks(project, example):
    done = pulsus(project, "plugins", "list", "--output", "json", env=example)
    own, found = done.json["plugins"]
    assert own["name"] == "pulsus"
    assert set(own["hooks"]) == HOOKS
    assert (found["name"], found["version"], found["state"]) == ("example", "1.0", "ok")
    assert set(found["hooks"]) == HOOKS


def ranked(project, env):
    done = pulsus(project, HELLO, "--explain", "--output", "json", env=env)
    assert done.code == 0, done.err
    return {c["tool"]: c for c in done.json["candidates"]}


@pytest.mark.seconds
def test_a_plugins_feature_is_shown_with_weight_0_and_used_once_configured(project, example):
    assert "brevity" not in ranked(project, None)["demo/greet/say_hello"]["features"]
    hello = ranked(project, example)["demo/greet/say_hello"]
    assert (hello["weights"]["brevity"], hello["features"]["brevity"]) == (0, 1)
    weighed = sum(hello["weights"][name] * value for name, value in hello["features"].items())
    assert hello["score"] == pytest.approx(weighed, abs=1e-5)
    (project / "config").mkdir()
    (project / "config/pulsus.toml").write_text("[ranker.weights]\nbrevity = 1.0\n")
    used = ranked(project, example)["demo/greet/say_hello"]
    assert used["weights"]["brevity"] == 1
    assert used["score"] == pytest.approx((hello["score"] + 1) / 2, abs=1e-5)
    done = pulsus(project, HELLO, "--explain", env=example)
    assert "brevity=1.00" in done.out


@pytest.mark.seconds
@pytest.mark.sandbox
def test_a_validator_of_a_plugin_refuses_and_accepts(project, example):
    need_sandbox()
    done = pulsus(project, "validate", GREETER, "--output", "json", env=example)
    assert done.code == 3
    steps = done.json["modules"][0]["steps"]
    assert [(s["step"], s["ok"]) for s in steps] == [("static", True), ("owner", False)]
    assert steps[-1]["message"] == "add a line `Owner: team` to the docstring"
    module = project / GREETER
    module.write_text(module.read_text("utf-8").replace("Kind: read", "Owner: us\n\nKind: read"))
    assert pulsus(project, "validate", GREETER, env=example).code == 0


@pytest.mark.seconds
@pytest.mark.sandbox
def test_a_plugins_tool_is_found_by_its_synonym_and_promoted_into_the_project(project, example):
    need_sandbox()
    source = FIXTURES / "example_plugin/tools"
    before = tree(source)
    listed = pulsus(project, "tools", "list", "shared/greet", env=example)
    assert "shared/greet/greeting" in listed.out
    assert "shared/greet/greeting" not in pulsus(project, "tools", "list").out
    words = ("make a salute for a person", "--plan", "--output", "json")
    assert "shared/greet/greeting" in str(pulsus(project, *words, env=example).json["candidates"])
    done = pulsus(
        project,
        *("promote", source / "shared_tools/greet/greeting.py", "--action", "greet", "--yes"),
    )
    assert done.code == 0, done.err
    assert (project / "workflows/shared_tools/greet/greeting.py").is_file()
    again = pulsus(project, "tools", "check", "--output", "json", env=example)
    codes = [f["code"] for f in again.json["findings"] if f["code"] != "NOT_PROMOTED"]
    assert codes == ["DUPLICATE_ID"]
    assert tree(source) == before


BROKEN = {
    "raises at import": ("raise RuntimeError('boom')", "RuntimeError: boom"),
    "exits at import": ("import sys; sys.exit(0)", "exit(0)"),
    "does not parse": ("def (", "SyntaxError"),
    "unknown hook": ("@hookimpl\ndef pulsus_feature():\n    return ()", "pulsus_feature"),
    "undecorated hook": ("def pulsus_features():\n    return ()", "lacks @hookimpl"),
    "raises when asked": ("@hookimpl\ndef pulsus_features():\n    raise KeyError('x')", "KeyError"),
    "exits when asked": ("@hookimpl\ndef pulsus_synonyms():\n    exit(3)", "exit(3)"),
    "wants an argument": ("@hookimpl\ndef pulsus_features(app):\n    return ()", "app"),
    "garbage features": ("@hookimpl\ndef pulsus_features():\n    return [5]", "5 is no ranking"),
    "no list": ("@hookimpl\ndef pulsus_validators():\n    return None", "TypeError"),
    "text for folders": ("@hookimpl\ndef pulsus_tool_sources():\n    return '/tmp'", "'/tmp'"),
    "text for words": ("@hookimpl\ndef pulsus_synonyms():\n    return {'a': 'bc'}", "'bc'"),
    "numbers for words": (
        "@hookimpl\ndef pulsus_synonyms():\n    return {'a': [1]}",
        "1 is no word",
    ),
    "takes a name": (
        """
        class Feature:
            name = "doc"
            def __call__(self, intent, tool):
                return 1.0

        @hookimpl
        def pulsus_features():
            return [Feature()]
        """,
        "called doc already",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_and_everything_else_works(project, bad, case):
    source, says = BROKEN[case]
    bad(source)
    done = pulsus_here(project, "tools", "list", "--output", "json")
    assert done.code == 0, done.err
    assert len(done.json["tools"]) == len(list((project / "workflows").rglob("*.py")))
    (warning,) = [line for line in done.err.splitlines() if "acme" in line]
    assert warning.startswith("warning: plugin acme failed: ")
    assert says in warning
    assert "Traceback" not in done.err


def test_a_plugin_that_ends_the_process_does_not_end_the_command(project, bad):
    done = pulsus(project, "tools", "list", "-q", env=bad("import sys; sys.exit(0)"))
    assert (done.code, done.err) == (0, "")
    assert "demo/greet/say_hello" in done.out


def test_a_failed_plugin_adds_nothing_at_all(project, bad):
    bad(
        """
        from pathlib import Path

        @hookimpl
        def pulsus_tool_sources():
            return [Path(__file__).parent / "tools"]

        @hookimpl
        def pulsus_synonyms():
            raise RuntimeError("late")
        """
    )
    done = pulsus_here(project, "tools", "list")
    assert done.err == "warning: plugin acme failed: RuntimeError: late\n"
    state = pulsus_here(project, "plugins", "list", "--output", "json").json["plugins"][1]
    assert state["state"] == "failed: RuntimeError: late"


def test_a_feature_that_raises_counts_zero_with_one_warning(project, bad):
    bad(
        """
        class Moody:
            name = "moody"
            def __call__(self, intent, tool):
                raise ZeroDivisionError(tool.id)

        @hookimpl
        def pulsus_features():
            return [Moody()]
        """
    )
    done = pulsus_here(project, HELLO, "--explain", "--output", "json")
    assert done.code == 0
    assert {c["features"]["moody"] for c in done.json["candidates"]} == {0}
    assert done.err.count("warning: plugin acme failed: ZeroDivisionError") == 1


@pytest.mark.parametrize(
    "answer", ["None", "True", "'fine'", "1 / 0", "exit(0)"], ids=lambda text: text
)
def test_an_invalid_answer_of_a_validator_refuses_the_module(project, bad, answer):
    bad(
        f"""
        def careless(source, tool):
            return {answer}

        @hookimpl
        def pulsus_validators():
            return [careless]
        """
    )
    done = pulsus_here(project, "validate", GREETER, "--output", "json")
    assert done.code == 3, done.err
    step = done.json["modules"][0]["steps"][-1]
    assert (step["step"], step["ok"]) == ("careless", False)
    assert "the validator failed" in step["message"]


@pytest.mark.seconds
def test_what_a_plugin_prints_does_not_spoil_the_result(project, bad):
    env = bad(
        "print('hello from acme')\n@hookimpl\ndef pulsus_synonyms():\n    return print() or {}"
    )
    done = pulsus(project, "tools", "list", "--output", "json", env=env)
    assert done.json["tools"]
    assert "hello from acme" in done.err


def test_a_disabled_plugin_is_not_even_imported(project, bad):
    bad("raise RuntimeError('boom')")
    (project / "config").mkdir()
    (project / "config/pulsus.toml").write_text('[plugins]\ndisabled = ["acme"]\n')
    trust(project)
    assert pulsus_here(project, "tools", "list").err == ""
    listed = pulsus_here(project, "plugins", "list", "--output", "json")
    assert [p["state"] for p in listed.json["plugins"]] == ["ok", "disabled"]


def test_a_second_plugin_of_the_same_name_fails(project, tmp_path, bad):
    bad("@hookimpl\ndef pulsus_synonyms():\n    return {}")
    other = tmp_path / "site/other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text(
        "[pulsus.plugins]\nacme = acme_too\npulsus = acme_too\n"
    )
    done = pulsus_here(project, "plugins", "list", "--output", "json")
    states = [p["state"].partition(":")[0] for p in done.json["plugins"]]
    assert states == ["ok", "ok", "failed", "failed"]


def test_a_plugins_missing_tool_folder_is_a_warning(project, bad):
    bad("@hookimpl\ndef pulsus_tool_sources():\n    return ['/nowhere']")
    done = pulsus_here(project, "tools", "list")
    assert done.code == 0
    assert "tool source '/nowhere' is no readable folder" in done.err


def test_terminal_codes_in_a_plugin_error_are_removed(project, bad):
    bad("raise RuntimeError('\\x1b[2J\\nerror[FORGED]: x')")
    done = pulsus_here(project, "tools", "list")
    assert "\x1b" not in done.err
    assert len(done.err.splitlines()) == 1
    listed = pulsus_here(project, "plugins", "list")
    assert "\x1b" not in listed.out
    assert "FORGED" in listed.out
