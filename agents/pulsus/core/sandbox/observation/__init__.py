"""Effects of a sandboxed process, as the host sees them (spec §8, §17)."""
