"""The agent's tools: one module a built-in tool, and the tools of the catalogue.

Their names, arguments and kinds (read or write) are in `gates/built_in_tools.yaml`; `all_tools.py`
makes them.
"""
