"""Limits that the kernel enforces around a sandbox (spec §17)."""
