"""Check one program call against its table."""
