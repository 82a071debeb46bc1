"""Measure routing on requests with known answers (`pulsus eval`)."""
