"""Finds effects that a module's text could have and its contract rules out (ADR 33). Pure.

`effect_uses.py` finds the functions, and `library_effects.yaml` lists them. A dry run reaches only
some of the code. `Kind:` may say that files stay as they are, and `Effects:` may name no host or no
program. Then the text may name no function with that effect, called or not. Files of the run's own
(`tempfile`, memory) are free.
"""

from __future__ import annotations

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.types import ToolSpec
from pulsus.core.validators.effects.effect_uses import find_uses
from pulsus.core.validators.effects.observed_against_declared import is_read_only


def list_exceeded_limits(tool: ToolSpec, module: ModuleIndex) -> tuple[str, ...]:
    """Return in words the effects that the text could have and the contract rules out."""
    effects = tool.effects
    ruled_out = {
        "changes": (
            is_read_only(tool),
            f"could change files or processes: {{}} (Kind: {tool.kind})",
        ),
        "anything": (
            is_read_only(tool),
            f"could do anything, its text does not say what: {{}} (Kind: {tool.kind})",
        ),
        "exchanged": (
            effects is not None,
            "could exchange what Effects: names: {}",
        ),
        "reaches": (
            effects is not None and not effects.hosts,
            "could reach hosts: {}, though Effects: names none",
        ),
        "starts": (
            effects is not None and not effects.commands,
            "could start programs: {}, though Effects: names none",
        ),
    }
    if not any(out for out, _ in ruled_out.values()):
        return ()
    found: dict[str, None] = {}
    signals = effects is not None and "kill" in effects.commands
    for use in find_uses(module):
        out, words = ruled_out[use.kind]
        if out and not (signals and use.name in ("os.kill", "os.killpg")):
            found[words.format(f"{use.name} in line {use.line}")] = None
    return tuple(found)
