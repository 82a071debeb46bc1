"""The OS sandbox of the dry run (spec §8, §17)."""
