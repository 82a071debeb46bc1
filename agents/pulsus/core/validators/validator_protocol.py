"""The input and the answer of a validation step (spec §8).

The steps themselves are in `steps/`, and `pipeline.py` calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from pulsus.core.types import StepResult, ToolSpec
from pulsus.fast_dataclass import dataclass

Steps = Mapping[str, tuple[ToolSpec, bytes]]
"""The pinned steps of a composed module, by tool id."""

BUSY = "BUSY"
"""Code of a finding that says nothing about the module: try again when the machine is less busy."""

Validator = Callable[[bytes, ToolSpec], StepResult]
"""A plugin's check of a module's bytes. Runs after the static gate; may raise."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One module under validation: the bytes that are checked, run and promoted.

    `network` are the hosts that its dry run may reach.
    """

    source: bytes
    path: Path
    tool: ToolSpec
    steps: Steps = field(default_factory=dict)
    network: tuple[str, ...] = ()


EXAMPLES_KNOWN = "EXAMPLES_KNOWN"


@dataclass(frozen=True, slots=True)
class Finding:
    """`message` is one line: what is wrong and what to do. `output` is the checker's own text.

    `unverified`: the check could not be made, which is never a pass. `shift_ms` moves time between
    steps that share a process. `line` is where in the module, from 1; 0 if it is not known.
    `code` is stable, and empty for most findings: `BUSY` says that the machine had no time,
    `EXAMPLES_KNOWN` that the module knows its examples, so that they prove nothing.
    """

    ok: bool
    message: str = ""
    output: str = ""
    unverified: bool = False
    warnings: tuple[str, ...] = ()
    shift_ms: int = 0
    line: int = 0
    code: str = ""
