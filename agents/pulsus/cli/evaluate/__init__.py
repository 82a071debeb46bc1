"""`pulsus eval`: measure routing on requests with known answers."""
