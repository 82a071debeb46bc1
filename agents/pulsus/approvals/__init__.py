"""Decide who may approve a promotion or a run, and what needs no person (spec §12, ADR 9)."""
