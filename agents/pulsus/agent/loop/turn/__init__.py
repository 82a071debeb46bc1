"""The calls of one turn of the agent: their verdicts, results and records."""
