"""`pulsus config`, `doctor` and `plugins`."""
