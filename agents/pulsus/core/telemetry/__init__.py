"""Traces, metrics, redaction (spec §11)."""
