"""Confines a promoted tool while it runs: files, network, processes, limits (ADR 28).

`machine.available()` says whether this machine can; `choice.how_to_run` decides for one call.
"""
