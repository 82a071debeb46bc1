"""`pulsus tools adopt`: from a script to a promoted tool. Real commands, real sandboxes."""

import shutil
from pathlib import Path

import pytest

from tests.integration.test_json_schemas import check
from tests.project import make, pulsus_here

SCRIPTS = Path(__file__).parents[1] / "fixtures" / "adopt"

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project")
    for script in SCRIPTS.glob("*.txt"):
        shutil.copy(script, folder / script.name.removesuffix(".txt"))
    return folder


def test_an_adopted_script_is_validated_promoted_and_run(project):
    done = pulsus_here(project, "tools", "adopt", "word_count.py", "--domain", "text")
    assert done.code == 0, done.out + done.err
    assert "next: pulsus promote workflows/_tmp/word_count.py --domain text" in done.out
    assert (project / "workflows" / "_tmp" / "test_word_count.py").is_file()
    promoted = pulsus_here(
        project,
        *("promote", "workflows/_tmp/word_count.py", "--domain", "text", "--action", "run"),
        *("--yes", "--output", "json"),
    )
    assert promoted.code == 0, promoted.out
    (project / "words.txt").write_text("b a b")
    done = pulsus_here(
        project, "run", "word_count", "--input", "file=words.txt", "--output", "json"
    )
    assert done.json["result"]["stdout"].split() == ["2", "b", "1", "a"]


def test_a_default_of_a_variable_is_an_input_of_the_adopted_pipe(project):
    done = pulsus_here(project, "tools", "adopt", "largest_entries.sh", "--domain", "storage")
    assert done.code == 0, done.out + done.err
    assert "(kind: read)" in done.out
    assert "the folder to look in" in done.out
    module = "workflows/_tmp/largest_entries.py"
    place = ("--domain", "storage", "--action", "usage", "--yes")
    promoted = pulsus_here(project, "promote", module, *place)
    assert promoted.code == 0, promoted.out
    (project / "many").mkdir()
    for number in (1, 2, 3):
        (project / "many" / f"{number}.txt").write_text("x" * 5000 * number)
    given = ("--input", "folder=many", "--input", "limit=2", "--output", "json")
    found = pulsus_here(project, "run", "largest_entries", *given).json["result"]
    assert found["exit_status"] == 0
    assert [line.split()[0] for line in found["stdout"].splitlines()] == ["many", "many/3.txt"]


def test_a_line_of_a_checker_is_not_told_as_one_of_the_script(project):
    (project / "two.py").write_text("import os, sys\n\nprint(os.getcwd(), sys.argv)\n")
    done = pulsus_here(project, "tools", "adopt", "two.py")
    assert done.code == 3
    assert " workflows/_tmp/two.py:" in done.out
    assert " two.py:" not in done.out


@pytest.mark.parametrize("contract", ["Kind: read", "Returns:\n    n (int): A number."])
def test_a_tool_is_not_adopted_into_a_second_tool_without_its_inputs(contract, project):
    text = f'"""Count.\n\n{contract}\n"""\n\n\ndef run(n: int) -> dict:\n    return {{"n": n}}\n'
    (project / "count.py").write_text(text)
    done = pulsus_here(project, "tools", "adopt", "count.py", "--action", "sum")
    assert done.code == 2
    assert "count.py is a tool already" in done.err
    assert "hint: pulsus promote count.py --action sum" in done.err
    assert not (project / "workflows/_tmp/count.py").exists()


def test_a_script_without_arguments_is_told_without_an_empty_table(project):
    text = '"""Say."""\n\n\ndef run() -> None:\n    print(1)\n\n\nrun()\n'
    (project / "say.py").write_text(text)
    done = pulsus_here(project, "tools", "adopt", "say.py")
    assert done.code == 0, done.out + done.err
    assert "argument" not in done.out


@pytest.mark.parametrize("name", ["nightly.yaml", "nightly", "nightly.rb"])
def test_a_file_that_is_no_script_is_not_adopted_as_one(project, name):
    (project / name).write_text("plan: x\nsteps:\n  - a: b\n")
    done = pulsus_here(project, "tools", "adopt", name)
    assert done.code == 2
    told = (
        f"{name} is no shell or Python script: it has no `#!` line, and its suffix is none of "
        ".sh, .bash, .dash, .ksh, .py, .pyw"
    )
    assert told in done.err
    assert not (project / "workflows/_tmp/nightly.py").exists()


@pytest.mark.parametrize("name", ["BACKUP.SH", "count.Ksh", "count.dash", "WORDS.PY", "words.pyw"])
def test_a_script_is_not_refused_for_the_case_of_its_suffix(project, name):
    is_python = name.lower().endswith((".py", ".pyw"))
    (project / name).write_text("print(1)\n" if is_python else "echo 1\n")
    done = pulsus_here(project, "tools", "adopt", name)
    assert "is no shell or Python script" not in done.err
    assert "(kind: read)" in done.out, done.err


REPEAT = '#!/bin/sh\n# Repeat a word\nWORD="$1"\n[ -n "$WORD" ] || exit 3\necho "$WORD $WORD"\n'
BATS = """@test "twice" {
  run ./repeat.sh OF
  assert_success
  assert_output "OF OF"
}
@test "no word" {
  run ./repeat.sh ""
  [ "$status" -eq 3 ]
}
@test "counts" {
  [ "$(./repeat.sh a | wc -w)" -eq 2 ]
}
"""


def test_bats_tests_become_examples_that_validation_runs(project):
    (project / "repeat.sh").write_text(REPEAT)
    (project / "repeat.bats").write_text(BATS.replace("OF", "x"))
    done = pulsus_here(project, "tools", "adopt", "repeat.sh")
    assert done.code == 0, done.out + done.err
    assert "tests: 2 tests of repeat.bats became examples, which validation runs" in done.out
    assert "not brought from repeat.bats: counts: line 10: " in done.out
    assert "proof: behaviour" in done.out
    found = pulsus_here(project, "tools", "adopt", "repeat.sh", "--replace", "--output", "json")
    check("tools-adopt", found.json)
    tests = found.json["tests"]
    assert (tests["found"], tests["kind"], tests["count"]) == ("repeat.bats", "examples", 2)


def test_a_tool_is_adopted_without_examples_that_the_sandbox_refuses(project):
    (project / "repeat.sh").write_text(REPEAT)
    (project / "repeat.bats").write_text(BATS.replace("OF", "x").replace("x x", "y y"))
    done = pulsus_here(project, "tools", "adopt", "repeat.sh", "--output", "json")
    assert done.code == 0, done.out + done.err
    tests = done.json["tests"]
    assert (tests["kind"], tests["count"]) == (None, 0)
    assert [each["name"] for each in tests["not_brought"]] == ["twice", "no word", "counts"]
    assert "do not hold in the sandbox" in tests["not_brought"][0]["reason"]
    module = (project / "workflows" / "_tmp" / "repeat.py").read_text("utf-8")
    assert "Examples:" not in module


def test_a_pytest_file_is_brought_in_place_of_the_skeleton(project):
    test = "import word_count\n\n\ndef test_x():\n    assert word_count\n"
    (project / "test_word_count.py").write_text(test)
    done = pulsus_here(project, "tools", "adopt", "word_count.py", "--name", "words")
    assert "tests: 1 test of test_word_count.py brought to workflows/_tmp/test_words.py" in done.out
    brought = (project / "workflows" / "_tmp" / "test_words.py").read_text("utf-8")
    assert brought.endswith(test)
    assert 'with_name("words.py")' in brought


def test_the_test_that_adopt_writes_is_named_with_what_to_do_with_it(project):
    script = project / "hello.sh"
    script.write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    done = pulsus_here(project, "tools", "adopt", script, "--action", "greet")
    shown = " ".join(done.out.split())
    assert (project / "workflows/_tmp/test_hello.py").is_file()
    assert "test: workflows/_tmp/test_hello.py is a skeleton: move it to your own tests" in shown


def test_adopt_ends_with_the_list_of_open_work(project):
    done = pulsus_here(project, "tools", "adopt", "convert.py", "--action", "convert")
    assert done.code == 3
    assert "look at: it takes its arguments from sys.argv by position" in done.out
    assert "dry-run" in done.out
    assert done.out.strip().endswith(
        "next: edit it, then pulsus validate workflows/_tmp/convert.py"
    )


def test_adopt_does_not_run_the_script(project):
    mark = project / "mark"
    (project / "touch.sh").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (project / "touch.py").write_text(f"open({str(mark)!r}, 'w')\nprint(1)\n")
    assert pulsus_here(project, "tools", "adopt", "touch.sh", "--name", "one").code == 0
    assert pulsus_here(project, "tools", "adopt", "touch.py", "--name", "two").code == 0
    assert not mark.exists()


def test_adopt_does_not_overwrite_a_candidate_without_replace(project):
    assert pulsus_here(project, "tools", "adopt", "disk_alert.sh").code == 0
    again = pulsus_here(project, "tools", "adopt", "disk_alert.sh", "--output", "json")
    assert again.code == 2
    assert again.json["error"]["message"] == "workflows/_tmp/disk_alert.py exists already"
    assert pulsus_here(project, "tools", "adopt", "disk_alert.sh", "--replace").code == 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param("lib.py", "import os\n\n\ndef f():\n    pass\n", "does nothing", id="library"),
        pytest.param("x.fish", "#!/usr/bin/fish\necho 1\n", "it is for fish", id="other shell"),
        pytest.param("bad.sh", "#!/bin/bash\nls\nif then\n", "line 3: ", id="no shell script"),
        pytest.param("x.sh", b"\xff\xfe", "not UTF-8", id="binary"),
    ],
)
def test_a_script_that_cannot_be_adopted_is_refused_with_the_reason(project, name, text, said):
    data = text if isinstance(text, bytes) else text.encode()
    (project / name).write_bytes(data)
    done = pulsus_here(project, "tools", "adopt", name, "--output", "json")
    assert done.code == 2
    assert said in done.json["error"]["message"]
    assert not (project / "workflows" / "_tmp").exists()


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ((), "--domain DOMAIN --action ACTION"),
        (("--domain", "text"), "--domain text --action ACTION"),
        (("--action", "say"), "--action say"),
    ],
)
def test_the_next_command_does_not_make_a_shared_tool_that_was_not_asked_for(project, given, place):
    (project / "say.py").write_text('"""Say."""\n\n\nprint(1)\n')
    done = pulsus_here(project, "tools", "adopt", "say.py", *given)
    assert f"next: pulsus promote workflows/_tmp/say.py {place} --name say\n" in done.out
    shared = "without --domain DOMAIN it becomes a shared tool" in done.out
    assert shared == (given[:1] == ("--action",))


def test_a_tool_that_is_adopted_without_a_place_is_not_sent_to_the_shared_tools(project):
    text = '"""Count.\n\nKind: read\n"""\n\n\ndef run(n: int) -> dict:\n    return {"n": n}\n'
    (project / "count.py").write_text(text)
    done = pulsus_here(project, "tools", "adopt", "count.py")
    assert "hint: pulsus promote count.py --domain DOMAIN --action ACTION" in done.err
