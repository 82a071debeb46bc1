"""Past requests and what they say about the next one (spec §10, ADR 16)."""
