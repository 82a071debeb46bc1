"""The change for a tool's callers decides the version step (spec §10, ADR 20)."""

import threading

import griffe
import pytest

from pulsus.core.python_source import python_parser
from pulsus.core.storage.promotion.needed_bump import compare

CONTRACT = """Count things.

Args:
    text (str): The text.

Returns:
    count (int): How many.

Side effects:
    none

Kind: read

Effects:
    paths: /etc
    hosts: none
    commands: none

Secrets: none
"""


def module(args="text: str", body="return {'count': 1}", doc=CONTRACT):
    return f'"""{doc}"""\n\n\ndef run({args}):\n    {body}\n'.encode()


def doc(old, new):
    assert old in CONTRACT
    return CONTRACT.replace(old, new)


BASE = module("text: str, limit: int = 10")


@pytest.mark.parametrize(
    ("old", "new", "bump"),
    [
        ("int", "float", "minor"),
        ("float", "int", "major"),
        ("bool", "int", "major"),
        ("list[str]", "Sequence[str]", "minor"),
        ("Sequence[str]", "list[str]", "major"),
        ("list[str]", "Iterable", "minor"),
        ("list[str]", "Sequence[int]", "major"),
        ("typing.List[str]", "list[str]", "patch"),
        ("Optional[int]", "int | None", "patch"),
        ("Annotated[int, 'ms']", "int", "patch"),
        ("Literal['a']", "Literal['a', 'b']", "minor"),
        ("Literal['a', 'b']", "Literal['a']", "major"),
        ("Literal['a']", "str", "minor"),
        ("str", "Literal['a']", "major"),
        ("Literal[1, None]", "float | None", "minor"),
    ],
)
def test_a_wider_type_breaks_no_caller_and_a_narrower_one_does(old, new, bump):
    assert compare(module(f"text: {old}"), module(f"text: {new}")).bump == bump


@pytest.mark.parametrize(
    ("args", "bump", "says"),
    [
        ("text: str", "major", "argument 'limit' was removed"),
        ("content: str, limit: int = 10", "major", "argument 'text' was removed"),
        ("text: str, more: int, limit: int = 10", "major", "required argument 'more' was added"),
        ("text: str, limit: int", "major", "'limit' has no default any more"),
        ("text: str, *, limit: int = 10", "major", "'limit' is given by name only"),
        ("text: str, limit: int = 10, /", "major", "'text' is given by position only"),
        ("text: bytes, limit: int = 10", "major", "'text' takes bytes, it took str"),
        ("text: str, limit: bool = 10", "major", "'limit' takes bool"),
        ("text: str, limit: int = 10, more: int = 1", "minor", "optional argument 'more'"),
        ("text: str, more: int = 1, limit: int = 10", "minor", "optional argument 'more'"),
        ("text: str, limit: int = 10, *, more: int = 1", "minor", "optional argument 'more'"),
        ("text: str, limit: int = 10, **more: int", "minor", "**kwargs was added"),
        ("text: str = '', limit: int = 10", "minor", "'text' has a default now"),
        ("text: str, limit: int = 20", "minor", "default of 'limit' is 20, it was 10"),
        ("text: str | None, limit: int = 10", "minor", "takes str | None too"),
        ("text, limit: int = 10", "minor", "takes anything too"),
        ("text: str, limit: 'int' = 10", "patch", ""),
        ("limit: int = 10, *, text: str", "major", "'text' is given by name only"),
    ],
)
def test_a_changed_signature_calls_for(args, bump, says):
    diff = compare(BASE, module(args))
    assert diff.bump == bump
    assert says in "; ".join(diff.texts)


@pytest.mark.parametrize(
    ("old", "new", "bump"),
    [
        ("    count (int): How many.", "    total (int): How many.", "major"),
        ("    count (int): How many.", "    count (str): How many.", "major"),
        ("    count (int): How many.", "    count: How many.", "major"),
        ("    count (int): How many.", "    count (int): How many.\n    n (int): N.", "minor"),
        ("Kind: read", "Kind: write", "major"),
        ("Kind: read", "Kind: resolve", "minor"),
        ("Secrets: none", "Secrets: API_KEY", "major"),
        ("paths: /etc", "paths: /etc, /var", "minor"),
        ("hosts: none", "hosts: example.org", "minor"),
        ("paths: /etc", "paths: none", "patch"),
        ("Count things.", "Count all things.", "patch"),
        ("The text.", "Some text.", "patch"),
    ],
)
def test_a_changed_contract_calls_for(old, new, bump):
    assert compare(module(), module(doc=doc(old, new))).bump == bump


def test_a_changed_body_is_a_patch_without_a_reason():
    diff = compare(module(), module(body="return {'count': 2}"))
    assert (diff.bump, diff.texts) == ("patch", ())


def test_a_module_that_cannot_be_read_promises_nothing():
    diff = compare(b"def run(:\n", module())
    assert diff.bump == "major"
    assert "cannot be read" in diff.texts[0]


def test_a_renamed_entry_is_still_the_same_tool():
    assert compare(module(), module().replace(b"def run(", b"def main(")).bump == "patch"


def test_the_gravest_reason_comes_first():
    diff = compare(BASE, module("content: str, limit: int = 20"))
    assert [text.split(":")[0] for text in diff.texts] == ["major", "major", "minor"]


def test_reading_a_change_runs_nothing(tmp_path):
    mark = tmp_path / "ran"
    hostile = f"open({str(mark)!r}, 'w')"
    diff = compare(module(), module(f"text: str = {hostile}", body=hostile))
    assert diff.bump == "minor"
    assert not mark.exists()


def test_a_status_that_no_longer_means_success_breaks_callers():
    returns = "    count (int): How many.\n    exit_status (int): How it ended.\n"
    plain = doc("    count (int): How many.\n", returns)
    wider = plain + "\nSuccess exit status: 1\n"
    assert compare(module(doc=plain), module(doc=wider)).texts == (
        "minor: exit status 1 means success now",
    )
    assert compare(module(doc=wider), module(doc=plain)).texts == (
        "major: exit status 1 means failure now",
    )


def test_a_tool_that_asks_for_an_approver_breaks_callers_that_pass_yes():
    plain = doc("    count (int): How many.\n", "    count (int): How many.\n") + "\nKind: write\n"
    strict = plain + "\nApproval: approver\n"
    assert compare(module(doc=plain), module(doc=strict)).texts == (
        "major: approval is approver, it was not declared",
    )
    assert compare(module(doc=strict), module(doc=plain)).bump == "minor"


def test_a_lost_check_of_a_change_is_no_patch():
    plain = doc("    count (int): How many.\n", "    count (int): How many.\n") + "\nKind: write\n"
    checked = plain + "\nVerify: a/b/c {}\n"
    assert compare(module(doc=checked), module(doc=plain)).texts == (
        "minor: `Verify:` was removed",
    )
    assert compare(module(doc=plain), module(doc=checked)).bump == "patch"


def test_no_other_thread_parses_while_griffe_does(monkeypatch):
    """CPython's parser ends with a SystemError if two threads use it at once."""
    visit, beside = griffe.visit, []

    def visit_beside_a_thread(*args, **options):
        other = threading.Thread(target=python_parser.read_tree, args=("x = 1",))
        other.start()
        other.join(0.1)
        beside.append((other, other.is_alive()))
        return visit(*args, **options)

    monkeypatch.setattr(griffe, "visit", visit_beside_a_thread)
    assert compare(BASE, module("text: str")).bump == "major"
    for other, waited in beside:
        other.join(30)
        assert (waited, other.is_alive()) == (True, False)
    assert len(beside) == 2
