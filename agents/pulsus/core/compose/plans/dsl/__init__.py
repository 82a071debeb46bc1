"""The plan DSL of spec §6: values, checks, and the text of a plan file."""
