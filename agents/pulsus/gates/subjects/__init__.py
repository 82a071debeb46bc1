"""The names of what a command changes or shows, and reads that cannot show it."""
