"""Give a decided route its inputs: from the words, options, defaults and questions (ADR 36)."""
