"""Run the steps of a plan: in order, recorded in a journal, and resumed after a fault."""
