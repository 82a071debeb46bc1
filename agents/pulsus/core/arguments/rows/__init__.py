"""Values of tools that work on rows: a condition, an order, columns and a title (ADR 38). Pure."""
