"""`pulsus agent` and `pulsus chat`."""
