"""Check whether a table is right (`pulsus commands check`)."""
