"""Running promoted tools, and commands that only read, in child processes."""
