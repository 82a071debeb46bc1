"""A request without a tool becomes a candidate written by a model (spec §7)."""
