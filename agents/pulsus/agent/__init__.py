"""The loop that lets a language model propose tool calls, which code decides (assistant spec)."""
