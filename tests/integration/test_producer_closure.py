"""A tool that needs an id gets the tool that gives it as a step before (spec §6)."""

import pytest

from tests.project import make, pulsus_here

TOOL = '''"""{summary}

Args:
    {argument} ({type}): {about}.

Returns:
    {output} (str): {gives}.

Side effects:
    none

Kind: {kind}

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {{{argument}: "{example}"}}
      output: {{{output}: "vol-7"}}
"""

from __future__ import annotations


def run({argument}: {type}) -> dict[str, str]:
    """Return it."""
    return {{"{output}": "vol-7"}}
'''
OWNER = {
    "summary": "Tell who owns a storage volume.",
    "argument": "volume_id",
    "type": "str",
    "about": "Identifier of the volume",
    "output": "owner",
    "gives": "The owner",
    "kind": "read",
    "example": "vol-1",
}
FIND = {
    "summary": "Resolve a label to its volume identifier.",
    "argument": "label",
    "type": "str",
    "about": "Label of the volume",
    "output": "volume_id",
    "gives": "Identifier of the volume",
    "kind": "read",
    "example": "backups",
}
REQUEST = "tell who owns the storage volume of the nightly dumps"
STEPS = ["volumes/find/find_volume", "volumes/owner/volume_owner"]


def lay(folder, place, **parts):
    path = folder / "workflows/domains" / f"{place}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TOOL.format(**parts), encoding="utf-8")


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project")
    lay(folder, "volumes/owner/volume_owner", **OWNER)
    return folder


def routed(project, request=REQUEST):
    return pulsus_here(project, "route", request, "--plan", "--output", "json").json


def test_the_tool_that_gives_a_missing_id_becomes_a_step(project):
    lay(project, "volumes/find/find_volume", **FIND)
    found = routed(project)
    assert (found["policy"], found["plan"] is not None) == ("compose", True)
    steps = found["plan"]["plan"]["steps"]
    assert [step["tool"] for step in steps] == STEPS
    assert steps[1]["inputs"] == {"volume_id": "{{steps.s1.outputs.volume_id}}"}
    assert "gives 'volume_id', and the request has no value for it" in found["reason"]


def test_an_explanation_says_why_the_step_was_added(project):
    lay(project, "volumes/find/find_volume", **FIND)
    done = pulsus_here(project, "explain", REQUEST)
    assert "volumes/find/find_volume is added before volumes/owner/volume_owner" in " ".join(
        done.out.split()
    )


def test_a_tool_that_writes_is_never_added(project):
    lay(project, "volumes/find/find_volume", **(FIND | {"kind": "write"}))
    assert routed(project)["selected"] == STEPS[1:]


def test_two_tools_that_give_the_id_are_named_and_none_is_added(project):
    lay(project, "volumes/find/find_volume", **FIND)
    lay(project, "volumes/search/search_volume", **FIND)
    done = pulsus_here(project, "explain", REQUEST)
    assert routed(project)["selected"] == STEPS[1:]
    assert "give 'volume_id' for volumes/owner/volume_owner" in " ".join(done.out.split())


def test_an_id_in_the_request_needs_no_other_tool(project):
    lay(project, "volumes/find/find_volume", **FIND)
    found = routed(project, "tell who owns the storage volume with volume_id=vol-9")
    assert found["selected"] == STEPS[1:]


def test_a_tool_that_gives_another_type_is_not_added(project):
    lay(project, "volumes/find/find_volume", **FIND)
    lay(project, "volumes/owner/volume_owner", **(OWNER | {"type": "int"}))
    assert routed(project)["selected"] == STEPS[1:]
