"""A command line as literal words."""
