"""The knowledge base: facts about the cluster with their age, and read-only questions to them."""
