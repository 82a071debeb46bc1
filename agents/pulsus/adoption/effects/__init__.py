"""Read from a script's text whether it only reads, and what it uses."""
