"""Cards that wait for a person: bound to one plan, opened by a one-time token."""
