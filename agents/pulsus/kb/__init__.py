"""The knowledge base: facts about the cluster with their age, and read-only questions to them.

`facts.py` decides when a fact is stale (expired). The facts that an agent finds in its session are
others: `agent/knowledge/`.
"""
