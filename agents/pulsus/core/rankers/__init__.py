"""Features and the one scorer (spec §4, §5)."""
