"""Rate the risk of a command: its level, secrets and devices."""
