"""Questions to the person at the terminal, and the decisions that they ask for."""
