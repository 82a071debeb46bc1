"""Module sources under validation, and a pipeline to put them through, for tests."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pulsus.config.settings import SandboxConfig, ValidationConfig
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.sandbox.job import SandboxOutcome
from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.core.validators.pipeline import Pipeline
from tests.libraries import shared

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)

DOCUMENTED = '''"""Double a number.

Args:
    value (int): The number.

Returns:
    value (int): Twice the number.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {value: 4}
      output: {value: 8}
"""


def run(value: int) -> dict[str, int]:
    """Twice the number."""
    return {"value": 2 * value}
'''


def read(source: str | bytes, name: str = "double") -> ToolSpec | BrokenTool:
    """Return the tool those bytes define, as `shared/math/NAME`."""
    data = source.encode() if isinstance(source, str) else source
    return read_tool(
        data,
        path=Path(f"/catalogue/{name}.py"),
        tool_id=f"shared/math/{name}",
        domain=None,
        action="math",
        name=name,
        max_bytes=200_000,
    )


def tool_of(source: str | bytes, name: str = "double") -> ToolSpec:
    """Return the tool in this source, and fail if it is none."""
    found = read(source, name)
    assert isinstance(found, ToolSpec), found
    return found


def pipeline(folder: Path, **given: Any) -> Pipeline:
    """Return a pipeline that logs below `folder` and uses the shared cache of mypy."""
    known: dict[str, Any] = {
        "validation": ValidationConfig(),
        "sandbox": SandboxConfig(),
        "log_dir": folder / "logs",
        "clock": lambda: NOON,
        "redact": lambda text: text,
        "mypy_cache": shared(),
    }
    return Pipeline(**{**known, **given})


def never(job, limits) -> SandboxOutcome:
    """Return a sandbox that must not be asked for."""
    raise AssertionError("the candidate was run")
