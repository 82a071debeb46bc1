"""A request becomes a chain of tools: which tools, in which order, which output feeds which."""
