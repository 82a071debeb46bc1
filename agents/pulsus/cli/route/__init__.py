"""`pulsus route`, `explain`, `generate`, `feedback` and `run`."""
