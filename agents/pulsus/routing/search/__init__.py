"""Rank tools for an intent and decide, with the caches this needs (spec §4 to §6)."""
