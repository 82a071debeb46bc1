"""Unknown and misspelt sections of a docstring contract (docs/tool-contract.md)."""

import pytest

from pulsus.core.contract import docstring
from pulsus.core.telemetry.redaction import redact


def read(*lines: str) -> docstring.Docstring:
    return docstring.parse_docstring("\n".join(("Sum.", "", *lines)))


@pytest.mark.parametrize(
    ("header", "nearest"),
    [
        ("Verfy", "Verify"),
        ("verify", "Verify"),
        ("VERIFY", "Verify"),
        ("Undoo", "Undo"),
        ("Targets", "Target"),
        ("Approvals", "Approval"),
        ("Owners", "Owner"),
        ("kind", "Kind"),
        ("Effect", "Effects"),
        ("Example", "Examples"),
        ("Side_effects", "Side effects"),
        ("Success exit states", "Success exit status"),
    ],
)
@pytest.mark.parametrize("before", [(), ("Args:", "    a: x", "")])
def test_a_misspelt_section_is_an_error_anywhere_and_never_free_text_in_silence(
    header, nearest, before
):
    (error,) = read(*before, f"{header}: read").errors
    assert error.startswith(f"there is no section '{header}'; the nearest is `{nearest}:`.")


@pytest.mark.parametrize("header", ["Secret", "Token", "Password", "Api key", "Credentials"])
def test_the_message_about_a_section_named_like_a_secret_is_not_redacted(header):
    (error,) = read("Kind: read", "", f"{header}: none").errors
    assert redact(error) == error


def test_an_unknown_section_behind_a_known_one_is_an_error_that_names_the_nearest():
    (error,) = read("Kind: read", "", "Rollback: x/y/z {}").errors
    assert error.startswith("there is no section 'Rollback'; the nearest is `")
    assert "below `Notes:`" in error


def test_free_text_with_a_colon_before_the_sections_is_no_error():
    doc = read("Usage: call it often.", "and counts restarts: one a pod.", "", "Kind: read")
    assert doc.errors == ()
    assert doc.body.startswith("Usage: call it often.")


@pytest.mark.parametrize("header", ["Raises", "Note", "Notes", "See also", "Warnings"])
def test_headers_of_other_docstring_styles_are_free_text(header):
    doc = read("Kind: read", "", f"{header}:", "    ValueError: if it is empty.", "", "Owner: us")
    assert doc.errors == ()
    assert list(doc.sections) == ["Kind", "Owner"]
    assert f"{header}:" in doc.body


def test_an_address_in_free_text_is_no_section():
    assert read("Kind: read", "", "https://example.com/x", "Ratio:2").errors == ()
