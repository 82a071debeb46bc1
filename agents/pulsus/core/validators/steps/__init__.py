"""The validation steps, and what each one needs (spec §8)."""
