"""Files below `workflows/` become the catalogue (spec §4, §9)."""
