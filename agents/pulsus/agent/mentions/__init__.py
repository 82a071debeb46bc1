"""Names in a request → discovered resources and a summary of them (assistant deep dive §1)."""
