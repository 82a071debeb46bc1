"""The agent's tools: one module a built-in tool, and the tools of the catalogue."""
