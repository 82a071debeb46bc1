"""Decide who may approve a promotion or a run, and what needs no person (spec §12, ADR 9).

Approvals that wait at `pulsus serve`, expire, or are used once are in `cards/`. Those of one agent
session are in `agent/control/call_approvals.py`. How long a paused run of a plan waits for approval
is kept in `execution/engine/engine.py`.
"""
