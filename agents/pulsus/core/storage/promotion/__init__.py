"""Promote, roll back and deprecate tools, and compute their version (spec §10)."""
