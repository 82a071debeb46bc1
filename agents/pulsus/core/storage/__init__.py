"""Promotion and its records (spec §10, §16)."""
