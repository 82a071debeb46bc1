"""`pulsus kb`: ask the knowledge base, list its facts, explain an answer."""
