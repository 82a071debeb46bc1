"""What the catalogue keeps beside its tools: records, changelogs, earlier bytes (spec §10)."""
