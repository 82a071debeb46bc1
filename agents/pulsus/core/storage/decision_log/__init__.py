"""The log of all decisions, chained by hashes (spec §10, ADR 21)."""
