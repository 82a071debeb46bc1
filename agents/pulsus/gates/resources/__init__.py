"""Resources that a session has discovered, and what may be done with them (assistant §4, §5)."""
