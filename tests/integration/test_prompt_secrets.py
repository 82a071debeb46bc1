"""No secret of a request reaches a model in any part of the prompt (spec §7)."""

import itertools

import pytest

from pulsus.core.compose.guardrails.all_rules import GuardrailRules
from pulsus.core.compose.writing import caller_examples, prompt_messages, scaffold
from pulsus.core.compose.writing.prompt_messages import PromptContext
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import Example, InlineFile

VALUES = ("hunter2", "Tr0ub4dor-3", "correct.horse.battery")
NAMES = ("password", "api_key", "token", "secret", "PGPASSWORD", "access-key")
SIGNS = ("=", ":", ": ", " = ", "=>", ":=", '="', "='", '": "', "%3D")
TOKENS = (
    "ghp_" + "a1" * 18,
    "AKIA" + "A1" * 8,
    "xoxb-" + "1234567890-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk",
    "sk_live_" + "a1" * 12,
    "glpat-" + "a1" * 10,
)
KNOWN = "opaque-value-of-the-environment"
REDACTOR = Redactor((KNOWN,))


def _brief(text, given=()):
    """As `routing/generation/generation_run.py` makes it."""
    text = REDACTOR.redact(text)
    shown = tuple(caller_examples.redact_example(each, REDACTOR) for each in given)
    return PromptContext(
        request=text,
        rules=GuardrailRules(frozenset(("json",))),
        imports=("json",),
        examples=tuple(given),
        shown_examples=shown,
        skeleton=scaffold.render_model_skeleton(text, shown),
    )


def _sent(brief):
    return "\n".join(message.content for message in prompt_messages.build_prompt(brief))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sign", SIGNS)
def test_a_named_secret_is_removed_before_the_request_is_summarised(name, sign):
    for value in VALUES:
        sent = _sent(_brief(f"log in with {name}{sign}{value} and list the volumes"))
        assert value not in sent
        assert value.casefold() not in sent.casefold()


@pytest.mark.parametrize("token", [*TOKENS, KNOWN])
def test_a_token_is_removed_from_every_part_of_the_prompt(token):
    for around in ("use {} here", "url https://x/{}/y", "file /tmp/{}.txt", "'{}'", "a,{},b"):
        assert token not in _sent(_brief(around.format(token)))


@pytest.mark.parametrize(("name", "value"), list(itertools.product(NAMES, VALUES)))
def test_secrets_are_removed_from_example_inputs_files_and_results(name, value):
    given = [
        Example(
            {"text": f"{name}={value}", "path": "/tmp/a.env", name: value},
            (InlineFile("/tmp/a.env", f"{name}={value}\n".encode()),),
            {"line": f"{name}: {value}"},
            True,
        )
    ]
    sent = _sent(_brief("read the file", given))
    assert value not in sent
    assert "/tmp/a.env" in sent


def test_a_generated_tool_name_contains_no_secret():
    text = REDACTOR.redact("password=hunter2 rotate logs").replace("[redacted]", " ")
    assert "hunter" not in scaffold.derive_name(text)


def test_a_request_without_secrets_is_sent_unchanged():
    text = "count the words of a text: letters, digits = no"
    assert text in _sent(_brief(text))
