"""Words of requests and tools: tokens, literals, verbs."""
