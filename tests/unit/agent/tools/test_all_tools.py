"""The table of a session and its tools belong together."""

from pulsus.gates.built_in_tools import built_in_tools


def test_every_built_in_tool_is_there_and_the_table_describes_exactly_the_tools(tools):
    assert set(built_in_tools()) <= set(tools.by_name)
    assert {each.name for each in tools.table} == set(tools.by_name)


def test_names_fit_the_protocols_of_models(tools):
    import re

    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in tools.by_name)


def test_needs_have_no_effect_and_cover_every_action(tools):
    for name, descriptor in built_in_tools().items():
        tool = tools.by_name[name]
        actions = descriptor.parameters["properties"].get(descriptor.selector, {}).get("enum", [""])
        for action in actions:
            args = {descriptor.selector: action} if action else {"request": "x", "command": "x"}
            needs = tool.needs(args)
            assert tool.needs(args) == needs
            if descriptor.kind_of(args) == "write" and name != "pulsus_docker":
                assert needs.action or action
