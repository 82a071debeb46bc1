"""`pulsus validate`, with one writer for each report format (spec §8)."""
