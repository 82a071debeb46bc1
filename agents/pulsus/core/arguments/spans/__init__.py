"""Find the typed values, names and phrases of a request, each with its place. Pure."""
