"""Confine a promoted tool while it runs: files, network, processes, limits (ADR 28).

`choose_confinement.py` decides for one call, and `kernel_support.py` finds what this machine can
enforce. Rejected network connections are decided in
`execution/confinement/supervision/socket_broker.py`, file writes in `landlock.py` or
`execution/confinement/supervision/file_broker.py`, forbidden system calls in `syscall_filter.py`.
"""
