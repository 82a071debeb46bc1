"""The tool contract, read from source without importing it (docs/tool-contract.md)."""

from pulsus.core.contract.example_match import matches
from pulsus.core.contract.tool_parser import imports_steps, read_tool

__all__ = ["imports_steps", "matches", "read_tool"]
