"""Reaching a language model over plain HTTP (spec §7)."""
