"""Running promoted tools in child processes."""
