"""Validate, approve and promote one module (spec §8, §10, §12)."""
