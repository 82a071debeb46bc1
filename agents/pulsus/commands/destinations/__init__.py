"""Find the places that a call connects to, by the `connects` key of its table."""
