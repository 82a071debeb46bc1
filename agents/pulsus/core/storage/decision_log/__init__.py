"""Who decided what, chained by hashes (spec §10, ADR 21)."""
