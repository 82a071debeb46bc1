"""What the kernel is asked to enforce around a sandbox (spec §17)."""
