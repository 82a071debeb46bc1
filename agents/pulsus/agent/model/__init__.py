"""How a language model is asked for tool calls and answers, and how its text is read."""
