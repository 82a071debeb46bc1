"""The supervisor outside a confined tool: it answers its held system calls (ADR 28).

Writes to files are allowed or denied in `file_broker.py`, connections in `socket_broker.py`,
signals and new processes in `run_processes.py`.
"""
