"""Values as text and as JSON, shared by the commands."""
