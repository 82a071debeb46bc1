"""The lexical index: terms of a request find matching tools (spec §4, ADR 18)."""
