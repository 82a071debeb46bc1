"""Let a language model propose values for open inputs: code decides which of them count. Pure."""
