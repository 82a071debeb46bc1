"""The machines, services and containers that exist, and how they are found (part 9)."""
