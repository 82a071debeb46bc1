"""Decide whether SQL only reads."""
