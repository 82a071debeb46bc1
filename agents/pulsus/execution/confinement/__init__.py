"""Confine a promoted tool while it runs: files, network, processes, limits (ADR 28).

`kernel_support.can_confine` returns True if this machine can. `choose_confinement` decides for one
call.
"""
