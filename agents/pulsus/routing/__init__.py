"""One request, from words to a promoted file."""
