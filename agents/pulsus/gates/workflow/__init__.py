"""The workflow of a session: find, read, write, verify (assistant architecture §7). Pure."""
