"""The tool contract, read from source without importing it (docs/tool-contract.md)."""

from pulsus.core.contract.matching import matches
from pulsus.core.contract.module import read_tool

__all__ = ["matches", "read_tool"]
