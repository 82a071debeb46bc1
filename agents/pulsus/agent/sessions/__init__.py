"""Saved transcripts of `pulsus chat`."""
