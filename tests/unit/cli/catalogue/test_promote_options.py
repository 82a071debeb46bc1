"""`pulsus promote` and `pulsus rollback` refuse wrong options before anything is validated."""

import shutil
import subprocess

import pytest

from tests.project import make, pulsus_here
from tests.promotions import module as source
from tests.promotions import promoted, tree


@pytest.mark.parametrize("owner", ["", "  "], ids=["empty", "blank"])
def test_an_empty_owner_is_refused_and_does_not_keep_the_old_one(tmp_path, owner):
    project = make(tmp_path / "project", warm=False)
    module = "workflows/domains/demo/greet/say_hello.py"
    done = pulsus_here(
        project,
        *("promote", module, "--domain", "demo", "--action", "greet"),
        *("--owner", owner, "--yes"),
    )
    assert (done.code, done.out) == (2, "")
    assert "error[USAGE]: --owner '' is empty" in done.err
    assert "leave it out" in done.err
    assert not (project / "workflows/domains/demo/greet/metadata.jsonl").exists()


@pytest.mark.parametrize("empty", ["--domain=", "--action=", "--name=", "--name=  "])
def test_an_empty_option_is_not_taken_for_one_that_was_left_out(tmp_path, empty):
    """An unset variable gives an empty option. It meant the shared tools, or the file's name."""
    project = make(tmp_path / "project", warm=False)
    module = "workflows/domains/demo/greet/say_hello.py"
    options = {"--domain=": "demo", "--action=": "greet"}
    given = [f"{name}{value}" for name, value in options.items() if name not in empty]
    done = pulsus_here(project, "promote", module, *given, empty, "--yes")
    assert (done.code, done.out) == (2, "")
    assert f"error[USAGE]: {empty.split('=')[0]} '" in done.err
    assert "names nothing" in done.err


@pytest.mark.parametrize(
    ("ref", "what"),
    [("things@", "version"), ("things@ ", "version"), ("@1.0.0", "tool"), ("", "tool")],
)
def test_a_rollback_to_no_version_does_not_take_the_one_before(tmp_path, ref, what):
    """`pulsus rollback things@$VERSION` with an unset variable put back whatever was before."""
    promoted(tmp_path, source("one"))
    promoted(tmp_path, source("two"))
    before = tree(tmp_path / "workflows")
    done = pulsus_here(tmp_path, "rollback", ref, "--yes")
    assert (done.code, done.out) == (2, "")
    assert f"error[USAGE]: {ref!r} names no {what}" in done.err
    assert tree(tmp_path / "workflows") == before


def noted(project, file, *options):
    """Promote a file that the gate refuses, and return the notes on its place."""
    done = pulsus_here(project, "promote", file, *options, "--yes")
    assert done.code == 3
    return [line for line in done.err.splitlines() if line.startswith("note:")]


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ("--domain dmo --action greet", "there is no domain dmo yet: the promotion adds it; "),
        ("--domain weather --action greet", "there is no domain weather yet: the promotion adds"),
        ("--domain demo --action gret", "there is no action gret yet: the promotion adds it; "),
        ("--action greet --name other", ""),
        ("--domain demo --action wave", ""),
    ],
    ids=["mistyped domain", "new domain", "mistyped action", "shared", "new action"],
)
def test_a_mistyped_place_is_not_added_to_the_catalogue_without_a_word(tmp_path, options, note):
    project = make(tmp_path / "project", warm=False)
    (project / "tool.py").write_text("eval('1')\n", "utf-8")
    told = noted(project, "tool.py", *options.split())
    assert len(told) == bool(note)
    assert note in "".join(told)
    meant = {"dmo": "did you mean --domain demo?", "gret": "did you mean --action greet?"}
    for typo, question in meant.items():
        assert (question in "".join(told)) == (f" {typo} " in note)
    assert noted(project, "tool.py", *options.split(), "-q") == []


def test_another_tool_of_the_same_name_does_not_become_the_next_version_without_a_word(tmp_path):
    promoted(tmp_path, source("one"))
    (tool,) = (tmp_path / "workflows/domains").glob("*/*/*.py")
    place = ("--domain", tool.parent.parent.name, "--action", tool.parent.name)
    refused = '"""{}"""\n\n\ndef run():\n    return eval("1")\n'
    (tmp_path / tool.name).write_text(refused.format("Sort words."), "utf-8")
    (told,) = noted(tmp_path, tool.name, *place)
    assert "is promoted already (1.0.0: 'Count things.'), and this file becomes its next " in told
    assert "give it a --name of its own" in told
    assert noted(tmp_path, tool.name, *place, "--name", "second") == []
    tool.write_text(refused.format("Sort words."), "utf-8")
    assert noted(tmp_path, tool, *place) == [], "the tool itself was edited"
    (tmp_path / tool.name).write_text(refused.format("Count things."), "utf-8")
    assert noted(tmp_path, tool.name, *place) == [], "the usual next version"


def test_the_bytes_of_another_tool_are_not_promoted_a_second_time_without_a_word(tmp_path):
    """After a mistyped domain, the promotion to the right one left both, and nothing said so."""
    promoted(tmp_path, refused := source("one").replace(b"return", b"eval('1')\n    return"))
    (tmp_path / "copy.py").write_bytes(refused)
    (tool,) = (tmp_path / "workflows/domains").glob("*/*/*.py")
    domain, action = tool.parent.parent.name, tool.parent.name
    (told,) = noted(tmp_path, "copy.py", "--domain", domain, "--action", action, "--name", "twin")
    assert f"pulsus tools remove {domain}/{action}/things" in told
    assert noted(tmp_path, tool, "--domain", domain, "--action", action) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_promotion_into_a_folder_that_git_ignores_warns_with_the_rule(tmp_path):
    project = make(tmp_path / "project", warm=False)
    (project / "tool.py").write_text("eval('1')\n", "utf-8")
    subprocess.run(["git", "init", "-q", project], check=True, timeout=30)
    (project / ".gitignore").write_text("certs/\n", "utf-8")
    told = pulsus_here(project, "promote", "tool.py", "--domain", "certs", "--action", "a").err
    told = " ".join(told.split())
    assert "git ignores workflows/domains/certs/a/tool.py (.gitignore:1: certs/)" in told
    assert "/certs/ instead of certs/" in told
    seen = pulsus_here(project, "promote", "tool.py", "--domain", "demo", "--action", "a").err
    assert "git ignores" not in seen
