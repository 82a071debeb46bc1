"""Project settings that need the approval of this machine's user (ADR 27)."""
