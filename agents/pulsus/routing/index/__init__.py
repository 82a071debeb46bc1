"""The discovery index, kept between runs (spec §13, ADR 14)."""
