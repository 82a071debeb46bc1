"""Characters and names that a reader takes for others (spec §8, Unicode TR 39). Pure."""
