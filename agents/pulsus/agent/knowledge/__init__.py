"""Facts that a session has read from tool results, and when they answer a repeated read."""
