"""Variables before a program: those that say no more than its options do."""

import pytest

from pulsus.commands import classify
from pulsus.commands.execution_plan import prepared


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("AWS_PROFILE=prod aws s3 ls", True),
        ("AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=x aws s3 ls | head", True),
        ("AWS_PROFILE= aws s3 ls", False),
        ("AWS_REGION=evil.example/x aws s3 ls", False),
        ("AWS_CONFIG_FILE=x aws s3 ls", False),
        ("AWS_ENDPOINT_URL=http://h aws s3 ls", False),
        ("AWS_PROFILE_X=x aws s3 ls", False),
        ("AWS_PROFILE=prod", False),
    ],
)
def test_a_profile_and_a_region_are_named_as_by_options(command, reads):
    assert classify(command).allow is reads


def test_a_refused_kubeconfig_suggests_the_context_option():
    assert "--context" in str(classify("KUBECONFIG=x kubectl get pods").reason)


def test_the_process_gets_them():
    plan = prepared(classify("AWS_PROFILE=prod aws s3 ls"), {}, lookup=lambda name: f"/bin/{name}")
    assert plan.env["AWS_PROFILE"] == "prod"
