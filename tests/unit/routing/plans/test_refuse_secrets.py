"""Secrets are not written into plan files, also if only the input beside one announces it."""

from types import SimpleNamespace

import pytest

from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import Constant, ParamRef, Plan, PlanStep
from pulsus.errors import UsageError
from pulsus.routing.plans.refuse_secrets import refuse_secrets

PROJECT = SimpleNamespace(redactor=Redactor(("known-in-the-environment",)))


def plan(**inputs):
    return Plan("set a line", (PlanStep("s1", "config/edit/set_config_line", inputs, {}),))


@pytest.mark.parametrize(
    ("step", "given"),
    [
        pytest.param(
            {"key": ParamRef("key"), "value": ParamRef("s1_value")},
            {"key": "password", "s1_value": "hunter2secret"},
            id="both given",
        ),
        pytest.param(
            {"key": Constant("api_key"), "value": ParamRef("value")},
            {"value": "hunter2secret"},
            id="name in the plan",
        ),
        pytest.param(
            {"name": ParamRef("name"), "value": Constant("hunter2secret")},
            {"name": "DB_PASSWORD"},
            id="value in the plan",
        ),
        pytest.param({"x": ParamRef("password")}, {"password": "hunter2secret"}, id="own name"),
        pytest.param({"x": ParamRef("x")}, {"x": "a known-in-the-environment b"}, id="known"),
        pytest.param({"x": ParamRef("x")}, {"x": "password=hunter2secret"}, id="in a text"),
    ],
)
def test_a_secret_beside_its_name_is_not_kept_in_clear(step, given):
    with pytest.raises(UsageError, match="looks like a secret"):
        refuse_secrets(PROJECT, plan(**step), given)


@pytest.mark.parametrize("given", [{"key": "port", "value": "8080"}, {"key": "password"}, {}])
def test_an_ordinary_value_is_not_taken_for_a_secret(given):
    step = {"key": ParamRef("key"), "value": ParamRef("value")}
    refuse_secrets(PROJECT, plan(**step), given)
