"""A project's own docs, searched for hints (spec §14). Local; no text leaves the machine."""
