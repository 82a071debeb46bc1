"""Where a call connects to, and which of its words go there, from the `connects` of its table."""
