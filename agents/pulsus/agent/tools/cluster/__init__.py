"""Tools about the cluster: goals to the knowledge base, and migrations to propose."""
