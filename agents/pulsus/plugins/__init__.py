"""Extension points and their loading."""
