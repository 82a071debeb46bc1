"""The table of `pulsus tools check` that says what to do."""

from pulsus.cli.catalogue.tools_check_command import _advice
from pulsus.routing.maintenance.catalogue_check import CatalogueFinding


def found(code, fix):
    return CatalogueFinding(code, "warning", None, (), "reason", fix)


def test_many_commands_for_one_code_are_shortened_on_a_terminal_only():
    commands = [found("NOT_PROMOTED", f"pulsus promote {n}.py") for n in range(5)]
    few = [found("CHANGED", f"pulsus promote {n}.py") for n in range(2)]
    findings = [*commands, *few, few[0]]
    assert len(_advice(findings, grouped=False)) == 7
    assert _advice(findings, grouped=True) == [
        ("CHANGED", "pulsus promote 0.py"),
        ("CHANGED", "pulsus promote 1.py"),
        ("NOT_PROMOTED", "pulsus promote 0.py"),
        ("NOT_PROMOTED", "and 4 more like it (-v lists them)"),
    ]
