"""What is checked in a model's text: leaked markup, invented results, repetition, length."""
