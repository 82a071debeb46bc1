"""The tool contract, read from source without importing it (docs/tool-contract.md)."""
