"""Calls of a cloud's own client: what is named a read is one, and nothing else is."""

from __future__ import annotations

import pytest

from pulsus.commands.inspectors.cloud import inspect


@pytest.mark.parametrize(
    ("client", "call"),
    [
        ("aws", "ec2 describe-instances --instance-ids i-1 i-2 --output json"),
        ("aws", "s3 ls s3://b --recursive"),
        ("aws", "iam get-role --role-name x"),
        ("az", "vm list -g rg -o table"),
        ("az", "network vnet subnet show --ids a b"),
        ("linode", "linodes view 5 --json"),
    ],
)
def test_a_call_named_as_a_read_is_allowed(client, call):
    assert inspect(tuple(call.split()), client).reads


@pytest.mark.parametrize(
    ("client", "call"),
    [
        pytest.param("aws", "s3api get-object --bucket b --key k out", id="writes a file"),
        pytest.param("aws", "iam get-role --role-name x out", id="a word too many"),
        pytest.param("aws", "ec2 describe-images --end http://evil", id="an abbreviated option"),
        pytest.param("aws", "sts get-session-token", id="hands out a secret"),
        pytest.param("aws", "ec2 --x describe-images", id="an option before the operation"),
        pytest.param(
            "aws", "cognito-identity get-id --identity-pool-id x", id="makes what it gets"
        ),
        pytest.param("az", "vm delete -n x", id="changes"),
        pytest.param("az", "config unset list", id="a name that is a verb"),
        pytest.param("az", "vm delete list", id="a verb behind a verb"),
        pytest.param("az", "keyvault secret list --vault-name x", id="prints secrets"),
        pytest.param("az", "vm show --fil x", id="an abbreviated file option"),
        pytest.param("linode", "linodes reboot list", id="a verb before the verb"),
        pytest.param("linode", "configure list", id="asks"),
    ],
)
def test_nothing_else_is_a_read(client, call):
    assert not inspect(tuple(call.split()), client).reads
