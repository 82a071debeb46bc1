"""Files that a user named (core/system/regular_files.py)."""

import os

import pytest

from pulsus.core.system.regular_files import ExpectedFile, UnreadableFile, resolve_link
from pulsus.errors import PlanInvalid, UsageError


def expected(most=10_000_000):
    return ExpectedFile("a plan", most, PlanInvalid, ("plan", "steps"), "write one")


def read(path, most=10_000_000):
    return expected(most).read(path, "there.yaml")[0]


@pytest.mark.parametrize("name", ["missing.yaml", "file/below"])
def test_a_missing_file_is_named_as_missing(tmp_path, name):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match=r"there\.yaml does not exist") as error:
        read(tmp_path / name)
    assert "correct the path" in error.value.hint


def test_only_a_file_that_is_too_large_is_answered_with_the_limit(tmp_path):
    (tmp_path / "large").write_bytes(b"x" * 1_000_001)
    with pytest.raises(PlanInvalid, match="1000001 bytes") as error:
        read(tmp_path / "large", 1_000_000)
    assert "at most 1 MB" in error.value.hint
    with pytest.raises(PlanInvalid, match="is a folder") as error:
        read(tmp_path)
    assert "MB" not in error.value.hint
    (tmp_path / "link").symlink_to(tmp_path / "large")
    assert len(read(tmp_path / "link")) == 1_000_001


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PlanInvalid, match="is a pipe, not a file") as error:
        read(tmp_path / "pipe")
    assert error.value.hint == "name a plan: write one"


def test_a_link_that_leads_nowhere_has_a_code_of_its_own(tmp_path):
    for name, target in (("broken", "nothing"), ("loop", "loop"), ("good", "file")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "file").touch()
    found = []
    for name in ("broken", "loop"):
        with pytest.raises(UnreadableFile) as error:
            resolve_link(tmp_path / name)
        found.append((error.value.code, error.value.missing))
    assert found == [("LINK_BROKEN", True), ("LINK_LOOP", False)]
    assert resolve_link(tmp_path / "good") == tmp_path.resolve() / "file"


def test_a_message_does_not_say_twice_that_a_file_cannot_be_read():
    assert UnreadableFile("UNREADABLE", "cannot be read: Is on fire").cause == "Is on fire"
    assert UnreadableFile("NOT_A_FILE", "is a pipe, not a file").cause == "is a pipe, not a file"


def test_a_picture_is_no_text_and_the_hint_offers_another_file(tmp_path):
    (tmp_path / "picture").write_bytes(b"one\n\x89PNG")
    with pytest.raises(
        PlanInvalid, match=r"there\.yaml:2: this is not UTF-8 text: byte 4"
    ) as error:
        read(tmp_path / "picture")
    assert error.value.hint == "name a plan, or save the file as UTF-8"


@pytest.mark.parametrize(
    ("text", "line", "begin"),
    [
        ("\n# Read me\n\n**bold** plan: no\n", 2, "it begins with '# Read me'"),
        ("- an item of a list: no", 1, "it begins with '- an item of a list: no'"),
        ("just words", 1, "it begins with 'just words'"),
        (" \n", 1, "it is empty"),
    ],
)
def test_a_file_of_another_kind_is_named_with_its_beginning(text, line, begin):
    error = expected().is_other(text, "there.yaml")
    assert error.message.startswith(f"there.yaml:{line}: this is not a plan: {begin}, and none of ")
    assert (error.hint, error.details["line"]) == ("name a plan: write one", line)


@pytest.mark.parametrize("text", ["# Read me\n**bold** plan: no\n", "", "two words: 1", "%PDF-1.7"])
def test_a_mistake_in_another_kind_of_file_is_not_shown_as_a_mistake_of_yaml(text):
    with pytest.raises(PlanInvalid, match="this is not a plan"):
        expected().require_kind(text, "there.yaml")


@pytest.mark.parametrize(
    "text", ["plan: [\n", "# a\n\n---\nx: 1\nsteps : &a\n", '{"a": }', " [", "- {", "'steps':\n {"]
)
def test_a_mistake_in_a_file_of_the_kind_keeps_its_place(text):
    expected().require_kind(text, "there.yaml")
