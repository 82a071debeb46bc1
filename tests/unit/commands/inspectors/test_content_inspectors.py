"""Content inspectors work as docs/plugins.md says, and a faulty one refuses the call."""

import re
from pathlib import Path

import pytest

from pulsus.commands.call_check.value_kinds import kind_texts
from pulsus.commands.classify import classify
from pulsus.commands.content_inspector import Opinion
from pulsus.commands.explain_verdict import explain
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables
from pulsus.plugins.plugin_failures import PluginInspector

DOCS = Path(__file__).parents[4] / "docs"
TABLE = "program: acmeq\nvalues: {-q: queue, -Q: 'queue:v2'}\noperands: [['queue*']]\nbare: true\n"


def context(folder, inspect):
    (folder / "acmeq.yaml").write_text(TABLE, encoding="utf-8")
    return JudgeContext(tables=Tables((folder,)), inspectors={"queue": PluginInspector(inspect)})


@pytest.fixture
def documented():
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def queue(" in c)
    names: dict = {}
    exec(code, names)
    return names["queue"]


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("acmeq -q 'show mail'", True),
        ("acmeq 'show mail' 'show news'", True),
        ("acmeq -Q 'count mail'", True),
        ("acmeq -q 'count mail'", False),
        ("acmeq -q 'show mail; drop mail'", False),
        ("acmeq 'show mail' 'drop mail'", False),
        ("acmeq -q 'tail mail'", False),
        ("timeout 5 acmeq -q 'tail mail'", True),
        ("acmeq show*", False),
        ("ls | xargs acmeq", False),
    ],
)
def test_the_inspector_of_the_docs_judges_as_they_say(tmp_path, documented, command, allowed):
    assert classify(command, context(tmp_path, documented)).allow is allowed


def test_the_documented_category_blocks_as_such(tmp_path, documented):
    verdict = classify("acmeq -q 'tail mail'", context(tmp_path, documented))
    assert (verdict.category, verdict.reason.word) == ("unbounded_stream", "tail")


@pytest.mark.parametrize(
    ("opinion", "told"),
    [
        (Opinion(False, "it follows", "unbounded_stream"), "write category='unbounded_stream'"),
        (Opinion(True, "it follows", category="endless"), "'endless' is none of"),  # type: ignore[arg-type]
        (Opinion(True, "it reads", word=None), "rule and word are texts"),  # type: ignore[arg-type]
    ],
)
def test_an_opinion_filled_wrongly_refuses_and_says_how_to_fill_it(tmp_path, opinion, told):
    verdict = classify("acmeq x", context(tmp_path, lambda words, argument: opinion))
    assert not verdict.allow
    assert told in verdict.reason.rule


def test_an_inspector_is_asked_once_about_a_text_however_often_a_verdict_needs_it(tmp_path):
    asked = []

    def inspect(words, argument):
        asked.append((words, argument))
        return Opinion(reads=False, rule="no")

    known = context(tmp_path, inspect)
    classify("acmeq -q x -Q x", known)
    explain("acmeq -q x -Q x", known)
    assert sorted(asked) == [(("x",), ""), (("x",), "v2")]


def test_two_inspectors_of_one_kind_are_not_mistaken_for_each_other(tmp_path):
    for reads in (True, False, True):
        found = classify(
            "acmeq x", context(tmp_path, lambda words, argument, said=reads: Opinion(said, "so"))
        )
        assert found.allow is reads


def test_every_kind_is_documented_as_the_gate_tells_it():
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z_]+(?::[a-z;]+)?)` \| (.+) \|$", page, re.MULTILINE))
    assert {name: listed.get(name) for name in kind_texts()["about"]} == kind_texts()["about"]


def test_docs_list_every_kind_that_a_table_can_name():
    from pulsus.commands.call_check.value_kinds import NAMES
    from pulsus.commands.content_inspector import _BUILT_IN
    from pulsus.commands.table_check.checker import WRAPPERS

    told = {name.partition(":")[0] for name in kind_texts()["about"]}
    assert told == (NAMES - {"literal", "pattern"}) | WRAPPERS.keys() | _BUILT_IN.keys()
