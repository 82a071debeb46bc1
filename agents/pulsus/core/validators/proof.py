"""Decide the proof of a candidate: `behaviour` or `shape` (spec §8, ADR 33).

`behaviour` means that an expected result was confirmed, and `shape` that the module only ran.
`memorised_examples.py` judges the text of the module, and
`core/validators/steps/smoke_and_dry_run.py` its runs. `approvals/unattended.py` decides what a weak
proof means for an automatic approval. Effect: may run the module again, without the examples in its
docstring.
"""

from __future__ import annotations

from collections.abc import Callable

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.types import Proof, ToolSpec
from pulsus.core.validators import memorised_examples
from pulsus.core.validators.validator_protocol import EXAMPLES_KNOWN, Finding
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DecidedProof:
    """The kind of proof. `refusal` is set if the module knows its examples.

    `doubt` is the warning for a module whose matched examples prove only its shape.
    """

    proof: Proof
    refusal: Finding | None = None
    doubt: str = ""


def decide_proof(
    tool: ToolSpec, module: ModuleIndex, run_without_examples: Callable[[], Finding | None]
) -> DecidedProof:
    """Return the proof of a module whose examples matched, one of which at least names a value.

    `run_without_examples` returns a failure if the module fails without the examples in its
    docstring. It is called only for a module that may read its own text.
    """
    code = memorised_examples.list_deciding_nodes(module.tree)
    if where := memorised_examples.find_example_table(code, tool):
        return DecidedProof("shape", known_examples(f"{where}: work the result out"))
    if memorised_examples.may_read_itself(code) and (found := run_without_examples()):
        return DecidedProof("shape", found)
    if why := memorised_examples.find_doubt(code, tool):
        doubt = f"proof: shape, because {why}; give an example that its code does not hold"
        return DecidedProof("shape", doubt=doubt)
    return DecidedProof("behaviour")


def known_examples(message: str) -> Finding:
    """Return the refusal of a module that knows its examples."""
    return Finding(ok=False, message=message, code=EXAMPLES_KNOWN)
