"""Code that runs inside the sandbox; it imports nothing else of Pulsus (spec §8, §17)."""
