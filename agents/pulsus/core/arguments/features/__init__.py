"""Features of a value for an input: how well it suits, and how sure the choice is. Pure."""
