"""Audit, clean and check the catalogue over time (spec §10, §16, §17)."""
