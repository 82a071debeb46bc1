"""Checks of a model's text: leaked markup, invented results, repetition, length."""
