"""Text to vectors and back to likeness (spec §4 `embedding_similarity`). Optional."""
