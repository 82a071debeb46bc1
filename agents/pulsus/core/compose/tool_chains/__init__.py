"""Chains of tools whose inputs have no types; `pulsus compose-eval` alone measures them (ADR 41).

Routes compose plans by `core/compose/selection/`, `core/compose/plans/wiring.py` and the contracts'
types.
"""
