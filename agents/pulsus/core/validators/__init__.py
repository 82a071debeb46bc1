"""The validation pipeline (spec §8)."""
