"""Hooks are called by pluggy, and each plugin's failure stays its own (docs/plugins.md)."""

import ast
import re
from pathlib import Path

import pytest

from pulsus.plugins import api
from pulsus.plugins.api import hookimpl
from pulsus.plugins.contributions import gather
from pulsus.plugins.load_plugins import Plugins

ROOT = Path(__file__).parents[3]


class Entry:
    """An installed plugin's entry point."""

    dist = None

    def __init__(self, name, plugin):
        self.name = self.value = name
        self.plugin = plugin

    def load(self):
        return self.plugin


class Words:
    """A plugin with synonyms, called in the given order."""

    def __init__(self, word, **order):
        @hookimpl(**order)
        def pulsus_synonyms():
            return {word: ("meaning",)}

        self.pulsus_synonyms = pulsus_synonyms


def loaded(**plugins):
    return Plugins([Entry(name, plugin) for name, plugin in plugins.items()])  # type: ignore[misc]


def answered(plugins):
    """Return the plugins that answered, with their words, in order, without built-in words."""
    return plugins.gather(
        "pulsus_synonyms",
        lambda name, answer: [(name, *answer)] if name != "pulsus" else [(name,)],
    )


def test_plugins_are_called_in_name_order_after_the_built_in_one():
    plugins = loaded(b=Words("two"), a=Words("one"))
    assert answered(plugins) == (("pulsus",), ("a", "one"), ("b", "two"))


def test_tryfirst_and_trylast_change_the_order():
    plugins = loaded(a=Words("late", trylast=True), b=Words("mid"), c=Words("early", tryfirst=True))
    assert answered(plugins) == (("c", "early"), ("pulsus",), ("b", "mid"), ("a", "late"))


class Wrapper:
    """A plugin that keeps only answers with the word `good`, and adds one of its own."""

    @hookimpl(wrapper=True)
    def pulsus_synonyms(self):
        answers = yield
        return [answer for answer in answers if "good" in answer] + [{"added": ("meaning",)}]


class OldWrapper:
    """The same as an old-style hook wrapper."""

    @hookimpl(hookwrapper=True)
    def pulsus_synonyms(self):
        outcome = yield
        kept = [answer for answer in outcome.get_result() if "good" in answer]
        outcome.force_result([*kept, {"added": ("meaning",)}])


@pytest.mark.parametrize("wrapper", [Wrapper, OldWrapper])
def test_a_hook_wrapper_changes_the_answers_of_other_plugins(wrapper):
    plugins = loaded(a=Words("good"), b=Words("bad"), w=wrapper)
    assert answered(plugins) == (("a", "good"), ("w", "added"))
    assert gather(plugins).synonyms == {"good": ("meaning",), "added": ("meaning",)}
    assert plugins.failures == ()


class Early:
    @hookimpl(wrapper=True)
    def pulsus_synonyms(self):
        raise RuntimeError("before")
        yield


class Late:
    @hookimpl(wrapper=True)
    def pulsus_synonyms(self):
        yield
        raise RuntimeError("after")


class Exits:
    @hookimpl(wrapper=True)
    def pulsus_synonyms(self):
        yield
        raise SystemExit(0)


class Twice:
    @hookimpl(wrapper=True)
    def pulsus_synonyms(self):
        yield
        yield


class NoList:
    @hookimpl(wrapper=True)
    def pulsus_synonyms(self):
        yield
        return 5


class Nonsense:
    @hookimpl(wrapper=True)
    def pulsus_synonyms(self):
        answers = yield
        return [*answers, 5]


class Raises:
    @hookimpl(tryfirst=True)
    def pulsus_synonyms(self):
        raise RuntimeError("first")


class Nothing:
    @hookimpl
    def pulsus_synonyms(self):
        return None


@pytest.mark.parametrize(
    ("plugin", "says"),
    [
        (Early, "RuntimeError: before"),
        (Late, "RuntimeError: after"),
        (Exits, "exit(0)"),
        (Twice, "yields more than once"),
        (NoList, "returned 5, not the list of answers"),
        (Nonsense, "TypeError: 'int' object is not iterable"),
        (Raises, "RuntimeError: first"),
        (Nothing, "TypeError: it answered None"),
    ],
)
def test_a_failing_plugin_is_named_and_does_not_stop_the_others(plugin, says):
    plugins = loaded(a=Words("one"), bad=plugin, z=Words("two"))
    synonyms = gather(plugins).synonyms
    assert (synonyms["one"], synonyms["two"]) == (("meaning",), ("meaning",))
    (failure,) = plugins.failures
    assert failure.startswith("plugin bad failed: ")
    assert says in failure


def test_a_failed_plugin_s_wrapper_has_no_effect():
    class Half(Wrapper):
        @hookimpl
        def pulsus_tool_sources(self):
            raise RuntimeError("late")

    plugins = loaded(a=Words("bad"), half=Half)
    assert gather(plugins).synonyms["bad"] == ("meaning",)


def documented():
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    example = ROOT / "tests/fixtures/example_plugin/pulsus_example.py"
    return [*blocks, example.read_text(encoding="utf-8")]


@pytest.mark.parametrize("source", documented())
def test_every_name_of_an_example_can_be_imported_from_the_plugin_api(source):
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom)]
    imports = [n for n in nodes if (n.module or "").startswith("pulsus")]
    assert {n.module for n in imports} == {"pulsus.plugins.api"}
    names = {alias.name for n in imports for alias in n.names}
    assert names <= set(api.__all__)
    exec(compile(source, "example", "exec"), {"__name__": "example", "__file__": "example.py"})


def test_every_type_that_the_page_names_can_be_imported_from_the_plugin_api():
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[A-Z][a-z]+)+)`", page)) - {"Path"}
    assert {"Feature", "Validator", "Provider", "Opinion", "Setup"} <= named
    assert named <= set(api.__all__)
    assert all(hasattr(api, name) for name in api.__all__)
