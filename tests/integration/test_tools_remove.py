"""`pulsus tools remove`: the catalogue, the requests and the compositions afterwards."""

import pytest

from tests.project import COMPOSE, COUNT, make, pulsus_here, records

COUNT_WORDS = "text/count/count_words"
WRITER = '''"""Write words to a file.

Args:
    text: The words.

Kind: write
Effects: none
Verify: text/count/count_words {text: "{{input.text}}"}
Examples: [{inputs: {text: a b, dry_run: true}, output: {words: 2}}]
"""


def run(text: str, dry_run: bool = True) -> dict[str, int]:
    return {"words": len(text.split())}
'''
PROMOTE = ("promote", "workflows/domains/text/count/count_words.py", "--domain", "text")

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path)
    assert pulsus_here(folder, *PROMOTE, "--action", "count", "--yes").code == 0
    return folder


def test_a_removed_tool_answers_no_request_and_does_not_come_back_unattended(project):
    assert pulsus_here(project, "route", COUNT, "--non-interactive").code == 0
    assert pulsus_here(project, "tools", "remove", COUNT_WORDS, "--yes").code == 0
    assert pulsus_here(project, "route", COUNT, "--non-interactive").code == 5
    missing = pulsus_here(project, "run", "count_words", "--input", "text=a b")
    assert missing.code == 2
    assert "was removed from the catalogue" in missing.err
    assert "pulsus rollback text/count/count_words" in missing.err


def test_a_removed_tool_is_not_suggested_for_another_removal(project):
    assert pulsus_here(project, "tools", "remove", COUNT_WORDS, "--yes").code == 0
    assert "did you mean" not in pulsus_here(project, "tools", "remove", "count_word", "--yes").err
    back = pulsus_here(project, "rollback", "count_word", "--yes")
    assert f"did you mean {COUNT_WORDS}?" in back.err


def test_a_module_put_back_at_the_place_of_a_removed_tool_needs_a_person(project):
    path = project / PROMOTE[1]
    source = path.read_bytes()
    assert pulsus_here(project, "tools", "remove", COUNT_WORDS, "--yes").code == 0
    path.write_bytes(source)
    assert pulsus_here(project, "run", COUNT_WORDS, "--input", "text=a b").code == 6
    routed = pulsus_here(project, "route", COUNT, "--non-interactive")
    assert routed.code == 4
    assert "was removed" in routed.err
    assert [r["status"] for r in records(project)] == ["stable", "removed"]
    found = pulsus_here(project, "tools", "check", "--output", "json").json["findings"]
    reasons = [f["reason"] for f in found if f["tools"] == [COUNT_WORDS]]
    assert any("removed with rev-" in reason for reason in reasons)


def test_the_steps_of_a_promoted_composition_stay_and_are_named(project):
    assert pulsus_here(project, "route", COMPOSE).code == 4
    (candidate,) = (project / "workflows/_tmp").glob("*.py")
    plan = pulsus_here(project, "route", COMPOSE, "--plan", "--output", "json").json
    domain, action, name = plan["selected"][0].split("/")
    path = f"workflows/domains/{domain}/{action}/{name}.py"
    done = pulsus_here(project, "promote", path, "--domain", domain, "--action", action, "--yes")
    assert done.code == 0, done.err
    place = ("--domain", "analysis", "--action", "visualise", "--name", "both")
    assert pulsus_here(project, "promote", candidate, *place, "--yes").code == 0
    refused = pulsus_here(
        project, "tools", "remove", plan["selected"][0], "--yes", "--output", "json"
    )
    assert refused.code == 6
    assert refused.json["error"]["code"] == "TOOL_IN_USE"
    assert refused.json["error"]["details"]["compositions"] == ["analysis/visualise/both"]
    forced = pulsus_here(
        project, "tools", "remove", plan["selected"][0], "--yes", "--force", "--output", "json"
    )
    assert forced.code == 0
    assert forced.json["used_by"] == ["analysis/visualise/both"]
    assert "analysis/visualise/both no longer runs" in forced.err
    found = pulsus_here(project, "audit", "--output", "json").json["findings"]
    assert "STEP_MISSING" in {finding["code"] for finding in found}
    assert pulsus_here(project, "rollback", plan["selected"][0], "--yes").code == 0
    found = pulsus_here(project, "audit", "--output", "json").json["findings"]
    assert "STEP_MISSING" not in {finding["code"] for finding in found}


def test_a_tool_that_another_contract_names_is_removed_only_by_force_and_with_a_warning(project):
    writer = project / "write_words.py"
    writer.write_text(WRITER, encoding="utf-8")
    done = pulsus_here(project, "promote", writer, "--domain", "text", "--action", "save", "--yes")
    assert done.code == 0, done.err
    refused = pulsus_here(project, "tools", "remove", COUNT_WORDS, "--yes")
    assert refused.code == 6
    said = " ".join(refused.err.split())
    assert "`Verify:` or `Undo:` names it in text/save/write_words" in said
    assert "or remove it in any case: --force" in said
    forced = pulsus_here(
        project, "tools", "remove", COUNT_WORDS, "--yes", "--force", "--output", "json"
    )
    assert forced.code == 0
    assert forced.json["named_by"] == ["text/save/write_words"]
    assert "its runs end unverified" in forced.err


def test_a_rollback_of_a_tool_whose_file_is_missing_says_that_it_brings_it_back(project):
    file = project / "workflows/domains/text/count/count_words.py"
    source = file.read_bytes()
    file.unlink()
    back = pulsus_here(project, "rollback", f"{COUNT_WORDS}@1.0.0", "--yes")
    assert back.code == 0
    assert "the missing file is back: workflows/domains/text/count/count_words.py" in back.out
    assert file.read_bytes() == source
    again = pulsus_here(project, "rollback", f"{COUNT_WORDS}@1.0.0", "--yes")
    assert "nothing to roll back, the module is the same as in 1.0.0: " in again.out
