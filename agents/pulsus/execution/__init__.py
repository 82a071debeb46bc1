"""Running promoted tools, and commands that only read, in child processes.

A plan is run in `engine/`, its record is in `journal/`, a single tool runs in `tool_process.py` and
its sandbox is `confinement/`. The sandbox for validation is `core/sandbox/`.
"""
