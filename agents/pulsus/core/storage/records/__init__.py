"""Files of the catalogue beside its tools: records, changelogs, earlier bytes (spec §10)."""
