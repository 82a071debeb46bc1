"""The knowledge base: facts about the cluster with their age, and read-only questions to them.

It is read-only: `goal_engine.py` refuses a query that is not in the allow-list of `predicates.py`.
`facts.py` decides when a fact is stale (expired). The facts that an agent finds in its session are
others: `agent/knowledge/`.
"""
